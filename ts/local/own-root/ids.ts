/** The ids of the host that own roots and the programs in them have: no programs but those of sandboxes have them. */
import { existsSync, readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'

/** How many ids an own root has, user 65534 `nobody` among them. */
export const idCount = 65_536

/** User and group of the host that are user 0 in the own roots of a user; the 65,535 after each are the others. */
export interface Ids {
  readonly uid: number
  readonly gid: number
}

/** Those of root, which belong to no user of a system. */
const ofRoot: Ids = { uid: 0x72000000, gid: 0x72000000 }

/** Whether this process is the user root. */
const isRoot = (): boolean => process.geteuid?.() === 0

interface Range {
  readonly owner: string
  readonly first: number
  readonly count: number
}

/** The ranges in a text of subuid(5): `name:first:count` on each line, where the name may be a number. */
const rangesIn = (text: string): Range[] =>
  text.split('\n').flatMap((line) => {
    const [, owner = '', first, count] = /^([^:#]+):(\d+):(\d+)\s*$/.exec(line) ?? []
    return owner === '' ? [] : [{ owner, first: Number(first), count: Number(count) }]
  })

const rangesAt = (path: string): Range[] => (existsSync(path) ? rangesIn(readFileSync(path, 'utf8')) : [])

/** The name of this process's user, or null where the system knows none, so that newuidmap(1) refuses it. */
const userName = (): string | null => {
  const wanted = String(process.geteuid?.())
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.split(':')[2] === wanted)
  return line?.split(':')[0] ?? null
}

const firstOf = (path: string, owners: readonly (string | null)[]): number | undefined =>
  rangesAt(path).find(({ owner, count }) => owners.includes(owner) && count >= idCount)?.first

/** The ids of this user's own roots; null where the system gives an ordinary user none. */
export const findIds = (): Ids | null => {
  if (isRoot()) return ofRoot
  const owners = [userName(), String(process.geteuid?.())]
  if (owners[0] === null) return null
  const [uid, gid] = [firstOf('/etc/subuid', owners), firstOf('/etc/subgid', owners)]
  return uid === undefined || gid === undefined ? null : { uid, gid }
}

/** Why this user has no ids for own roots, and the command that gives it some. */
export const idsMissing = (): { readonly reason: string; readonly remedy: string | null } => {
  const name = userName()
  if (name === null) {
    const reason = `The user ${process.geteuid?.()} stands not in /etc/passwd, and so cannot be given ids for an own root.`
    return { reason, remedy: null }
  }
  // Beyond all that are given away already.
  const ends = [...rangesAt('/etc/subuid'), ...rangesAt('/etc/subgid')].map(({ first, count }) => first + count)
  const first = Math.max(100_000, ...ends)
  const range = `${first}-${first + idCount - 1}`
  return {
    reason: `An own root has ${idCount} ids, and /etc/subuid and /etc/subgid give the user "${name}" not so many in one range.`,
    remedy: `as root: usermod --add-subuids ${range} --add-subgids ${range} ${name}`,
  }
}

/** The ids of this user's own roots; throws `unsupported` where it has none. */
export const idsHere = (): Ids => {
  const ids = findIds()
  if (ids !== null) return ids
  const { reason, remedy } = idsMissing()
  const way = remedy === null ? 'Start sandboxes with --isolation host-programs.' : `What helps: ${remedy}`
  throw new Failure('unsupported', `${reason} ${way}`, { isolation: 'own-root', remedy })
}
