/** The notices of the binaries that are published. */
import type { Platform } from '../platforms.ts'
import { cratesFor } from './crates.ts'
import { packagesOf } from './modules.ts'
import { noticesFor } from './notices.ts'
import { bunRuntime } from './stated.ts'

/** The notices of the native core. */
export const bindingNotices = async ({ target }: Platform): Promise<string> => noticesFor(await cratesFor(target))

/** The notices of an executable: the runtime, the packages in it, and the native core. */
export const executableNotices = async ({ target }: Platform, executable: string): Promise<string> => {
  const [crates, packages] = await Promise.all([cratesFor(target), packagesOf(executable)])
  return noticesFor([bunRuntime(Bun.version), ...packages, ...crates])
}
