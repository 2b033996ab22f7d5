/** Whose process has the other end of a connection over this machine's loopback. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Ports of a connection, as the one who called has them. */
export interface Connection {
  readonly localPort: number
  readonly remotePort: number
}

/**
 * Where a socket is looked for, one after the other, for each takes milliseconds; twice, for the kernel may skip one
 * while others come and go.
 */
const tables = ['/proc/net/tcp', '/proc/net/tcp6', '/proc/net/tcp', '/proc/net/tcp6'] as const

/**
 * Whether one of the processes may be the caller: its socket is theirs, or nobody's any more, so that none can be told by
 * leaving early. Reads what the kernel shows in `/proc` (proc(5)).
 */
export const mayBeCaller = (pids: readonly number[], connection: Connection): boolean => {
  if (pids.length === 0) return false
  let callers: string[] = []
  for (const table of tables) {
    callers = socketsIn(table, connection)
    if (callers.length > 0) break
  }
  return callers.length === 0 || pids.some((pid) => socketsHeldBy(pid).some((held) => callers.includes(held)))
}

/** The sockets with these ports, as `/proc/PID/fd` names them; those that were closed have no number. */
const socketsIn = (table: string, { localPort, remotePort }: Connection): string[] =>
  linesOf(table)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, remote]) => portOf(local) === localPort && portOf(remote) === remotePort)
    .flatMap(({ 9: inode }) => (inode === undefined || inode === '0' ? [] : [`socket:[${inode}]`]))

const portOf = (address = ''): number => Number.parseInt(address.split(':')[1] ?? '', 16)

const linesOf = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    // Without IPv6 there is no table of it.
    return []
  }
}

const socketsHeldBy = (pid: number): string[] => {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).flatMap((name) => linkOf(`${folder}/${name}`))
  } catch {
    // It has ended.
    return []
  }
}

const linkOf = (path: string): string[] => {
  try {
    return [readlinkSync(path)]
  } catch {
    // Closed in the meantime.
    return []
  }
}
