/** What the system says no to when the caller's own files are read and written, as errors of ours. */
import { BacklotError, ConflictError, InvalidArgumentError, NotFoundError, ResourceError } from '../errors.ts'

/** The error for a path of the caller's; any other error as it is. */
export const localFailure = (error: unknown, path: string): unknown => {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (BacklotError.is(error) || code === undefined || syscall === undefined) return error
  const message = `"${path}" on this machine cannot be used (${code}); look at the path and its rights.`
  const details = { data: { path }, cause: error }
  if (code === 'ENOENT' || code === 'ENOTDIR') return new NotFoundError('file_not_found', message, details)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new ConflictError('permission_denied', message, details)
  }
  if (code === 'EEXIST') return new ConflictError('file_exists', message, details)
  if (code === 'ENOSPC' || code === 'EDQUOT') return new ResourceError('disk_full', message, details)
  return new InvalidArgumentError('invalid_argument', message, details)
}
