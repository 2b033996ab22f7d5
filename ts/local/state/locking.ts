/** One at a time changes the state of a sandbox. */
import { Failure } from '@backlot/contract/failure'
import type { FileLock } from '@backlot/native'
import { endExchange } from '../snapshots/exchange.ts'
import { resumePrograms } from '../snapshots/halting.ts'
import type { SandboxFolder } from './folder.ts'

/** The lock of a sandbox, or null where another holds it. What a holder that died had begun is ended first. */
export const tryLock = async (folder: SandboxFolder): Promise<FileLock | null> => {
  const { FileLock } = await import('@backlot/native')
  const taken = FileLock.take(folder.lock)
  if (taken === null) return null
  try {
    await endExchange(folder)
    resumePrograms(folder)
    return taken
  } catch (error) {
    taken.release()
    throw error
  }
}

/** Milliseconds that another may take for what it does with the sandbox. */
const usualPatienceMs = 15_000

/** The lock of a sandbox, when who holds it lets go; throws `sandbox_busy` where that takes long. */
export const lock = async (folder: SandboxFolder, patienceMs = usualPatienceMs): Promise<FileLock> => {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const taken = await tryLock(folder)
    if (taken !== null) return taken
    if (performance.now() > deadline) {
      throw new Failure('sandbox_busy', `Another program changes the sandbox "${folder.name}"; try again.`, {
        name: folder.name,
      })
    }
    await Bun.sleep(10)
  }
}

/** Does something with a sandbox that nobody else changes meanwhile. */
export const locked = async <T>(folder: SandboxFolder, work: () => Promise<T>): Promise<T> => {
  const taken = await lock(folder)
  try {
    return await work()
  } finally {
    taken.release()
  }
}
