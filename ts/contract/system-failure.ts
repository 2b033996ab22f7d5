/** What the operating system says no to, as failures with a way out. */
import { Failure } from './failure.ts'
import { environment } from './limits.ts'

const refused = `Change its rights, or let ${environment.home} name a folder of your own.`

/** Why, and what helps, by the number of the error (errno.h). */
const reasons: Readonly<Record<string, readonly [why: string, wayOut: string]>> = {
  EACCES: ['permission is denied', refused],
  EPERM: ['permission is denied', refused],
  EROFS: ['its file system can only be read', refused],
  ENOTDIR: ['what should be a folder on the way is a file', refused],
}

const noTemporary = ['there is no such temporary folder', 'Let TMPDIR name one that exists.'] as const

/** The failure behind any thrown value: where the system refused a file, one that names it; else as `Failure.from`. */
export const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  const { code, path, syscall } = error as { code?: unknown; path?: unknown; syscall?: unknown }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const place = typeof path === 'string' ? `for "${path}"` : 'where the output goes'
    return new Failure('disk_full', `There is no room left ${place}. Make room and try again.`, { path: path ?? null })
  }
  const reason =
    syscall === 'mkdtemp' && code === 'ENOENT' ? noTemporary : typeof code === 'string' ? reasons[code] : undefined
  // Programs that are started, processes and sockets are refused in the same words.
  const isOfFiles =
    typeof syscall === 'string' &&
    /^(open|mkdir|mkdtemp|rename|unlink|rmdir|scandir|write|l?stat|chmod|link|symlink|utime)/.test(syscall)
  if (reason === undefined || typeof path !== 'string' || !isOfFiles) return Failure.from(error)
  const [why, wayOut] = reason
  return new Failure('storage_unusable', `"${path}" cannot be used: ${why} (${syscall}). ${wayOut}`, { path })
}
