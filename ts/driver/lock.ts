/** Locks between processes that the kernel lets go of when their holder dies. */
import type { FileLock } from '@backlot/native'

/**
 * Takes the lock that stands beside the file at `path`, in a file `PATH.lock` of the caller's own that goes with it. The
 * folder must exist. `undefined` where another process holds it; throws where there can be none.
 */
export const tryLock = async (path: string): Promise<FileLock | undefined> => {
  const { FileLock } = await import('@backlot/native')
  return FileLock.take(`${path}.lock`) ?? undefined
}
