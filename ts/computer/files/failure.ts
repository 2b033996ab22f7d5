/** What the system says no to when a caller's files are read and written, as failures. */
import { Failure, type FailureCode } from '@backlot/contract/failure'

/** What each number of the system (errno.h) means for a path. */
const meanings: Readonly<Record<string, readonly [FailureCode, string]>> = {
  ENOENT: ['file_not_found', 'there is no such file or folder'],
  ENOTDIR: ['file_not_found', 'a part of the path is a file'],
  EISDIR: ['invalid_argument', 'it is a folder'],
  EEXIST: ['file_exists', 'something is there already'],
  ENOTEMPTY: ['folder_not_empty', 'the folder is not empty'],
  ENAMETOOLONG: ['invalid_argument', 'the name is too long'],
  ELOOP: ['invalid_argument', 'its links lead in a circle'],
  EACCES: ['file_refused', 'permission is denied'],
  EPERM: ['file_refused', 'permission is denied'],
  EROFS: ['file_refused', 'its file system can only be read'],
  EBUSY: ['file_refused', 'it is in use'],
  ENOSPC: ['disk_full', 'there is no room left'],
  EDQUOT: ['disk_full', 'there is no room left'],
}

/** The failure that names the path; any other error as it is. */
export const fileFailure = (error: unknown, path: string): unknown => {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (error instanceof Failure || code === undefined || syscall === undefined) return error
  const [failure, why] = meanings[code] ?? ['file_refused', (error as Error).message]
  return new Failure(failure, `"${path}" cannot be used: ${why}.`, { path })
}

/** Does work on a path. */
export const onPath = async <T>(path: string, work: (path: string) => Promise<T>): Promise<T> => {
  try {
    return await work(path)
  } catch (error) {
    throw fileFailure(error, path)
  }
}
