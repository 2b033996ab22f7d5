/** Work on files of own roots, which belong to many users, by their one owner outside. */
import { findProgram, program } from '../programs.ts'
import text from './all-ids.sh' with { type: 'text' }
import { findIds, idCount, idsHere } from './ids.ts'
import namespace from './namespace.sh' with { type: 'text' }

const isRoot = (): boolean => process.geteuid?.() === 0

/**
 * Words before a command that may then do everything with files of this user's own roots: none for root; an ordinary
 * user is user 0 of a user namespace, which has its own id and those that it was given. Throws `unsupported` or
 * `missing_program`.
 */
export const withAllIds = (): string[] => {
  if (isRoot()) return []
  for (const name of ['newuidmap', 'newgidmap', 'unshare', 'nsenter'] as const) program(name, 'An own root')
  const { uid, gid } = idsHere()
  const numbers = [process.geteuid?.(), process.getegid?.(), uid, gid, idCount].map(String)
  return ['/bin/sh', '-c', text, 'backlot-ids', ...numbers]
}

/** Whether `withAllIds` can be had here. */
export const canHaveAllIds = (): boolean =>
  findIds() !== null && (isRoot() || (findProgram('newuidmap') !== null && findProgram('newgidmap') !== null))

/** Who user 0 of own roots is to a command after `withAllIds`. */
export const ownerThere = (): number => (isRoot() ? idsHere().uid : 1)

/** Words after `withAllIds` and before a command that is user 0 of own roots then, and nobody outside. */
export const asOwner = (): string[] => {
  for (const name of ['unshare', 'nsenter'] as const) program(name, 'A sandbox with an own root')
  return ['/bin/sh', '-c', namespace, 'backlot-root', String(ownerThere()), String(idCount)]
}
