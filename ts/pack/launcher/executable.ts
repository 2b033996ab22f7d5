/** Where the executable of this platform is, which stands in a package of its own. */
import { accessSync, constants } from 'node:fs'
import { createRequire } from 'node:module'
import { version } from '@backlot/contract/version'
import { executablePackage, platformHere, platforms } from '../platforms.ts'

/** The path of the executable `backlot`. Throws an `Error` that says what is missing and how to get it. */
export const executablePath = (): string => {
  const platform = platformHere()
  if (platform === undefined) {
    const known = platforms.map(({ os, cpu }) => `${os}-${cpu}`).join(', ')
    throw new Error(
      `Backlot has no executable for "${process.platform}-${process.arch}", only for: ${known}. A program here can still use a computer elsewhere, with the package @backlot/sdk.`,
    )
  }
  const name = executablePackage(platform)
  let path: string
  try {
    path = createRequire(import.meta.url).resolve(`${name}/bin/backlot`)
  } catch {
    throw new Error(
      `The package "${name}" with Backlot's executable is not installed. It is an optional dependency of "backlot", left out by --omit=optional, by a lock file that was made for another platform, and on a system without glibc. Install it with: npm install ${name}@${version}`,
    )
  }
  try {
    accessSync(path, constants.X_OK)
  } catch (error) {
    throw new Error(
      `Backlot's executable "${path}" cannot be executed (${error instanceof Error ? error.message : error}). Let its folder be on a file system that is not mounted noexec, and install "${name}" again.`,
    )
  }
  return path
}
