/** Whether the other end of a connection is a guest's, whose network leads it to this machine's loopback. */
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type * as Native from '@backlot/native'
import { isLoopback } from './names.ts'

/** A connection to this process, as its own end has it. */
export interface Connection {
  /** Address and port of the caller. */
  readonly address: string
  readonly port: number
  readonly ownPort: number
}

/**
 * How the names of programs begin that call for guests from sockets of their own: hypervisors with a network in user
 * space, and what carries the network of containers and small VMs.
 */
const guestPrograms = [
  'qemu-system-',
  'qemu-kvm',
  'slirp',
  'passt',
  'pasta',
  'rootlesskit',
  'vpnkit',
  'gvproxy',
  'krun',
  'VBoxHeadless',
  'VBoxNetNAT',
  'VirtualBoxVM',
  'vmware-vmx',
  'vmnet-natd',
]

/** Connections whose callers are remembered. */
const mostVerdicts = 1_024

interface Socket {
  /** Empty where the kernel did not name it. */
  readonly cookie: string
  readonly inode: number
  readonly uid: number
}

/** Who calls a server; a caller is looked for once a connection. */
export class Callers {
  /** Whether it may be a guest's, by the cookie of the caller's socket. */
  readonly #verdicts = new Map<string, boolean>()
  #pids = ''

  constructor(readonly native: () => Pick<typeof Native, 'callerSockets' | 'mayHoldSocket'>) {}

  /**
   * Whether one of the processes, or another that carries the network of guests, may be the caller: its socket is theirs,
   * or nobody's any more, so that none can be admitted by leaving early. Callers on other machines are none.
   */
  mayBeGuest(pids: readonly number[], connection: Connection): boolean {
    const known = pids.join()
    if (known !== this.#pids) this.#verdicts.clear()
    this.#pids = known
    const sockets = this.#socketsOf(connection)
    if (sockets === 'elsewhere') return false
    if (sockets === 'untold') return pids.length > 0
    if (sockets.length === 0) return true
    const verdicts = sockets.map(({ cookie }) => this.#verdicts.get(cookie))
    if (verdicts.includes(true)) return true
    if (!verdicts.includes(undefined)) return false
    const isGuest = sockets.some(({ inode, uid }) => this.native().mayHoldSocket(inode, uid, [...pids], guestPrograms))
    // Who had it may have ended while they were looked for.
    const after = this.#socketsOf(connection)
    const stays = (socket: Socket) => typeof after === 'object' && after.some((other) => isSame(socket, other))
    if (!isGuest && !sockets.every(stays)) return true
    this.#keep(sockets, isGuest)
    return isGuest
  }

  /** The caller's socket; several where it cannot be told from others, none where it was closed. */
  #socketsOf(connection: Connection): readonly Socket[] | 'elsewhere' | 'untold' {
    const { address, port, ownPort } = connection
    try {
      const found = this.native().callerSockets(address, port, ownPort)
      const open = found.flatMap((socket) => socket ?? [])
      if (open.length > 0) return open.length === found.length ? open : []
    } catch {
      // A sandbox may refuse what is asked there, and show the tables all the same.
    }
    return isOwnAddress(address) ? socketsInTables(connection) : 'elsewhere'
  }

  #keep(sockets: readonly Socket[], isGuest: boolean): void {
    for (const { cookie } of sockets) if (cookie !== '') this.#verdicts.set(cookie, isGuest)
    for (const oldest of this.#verdicts.keys()) {
      if (this.#verdicts.size <= mostVerdicts) break
      this.#verdicts.delete(oldest)
    }
  }
}

const isSame = (one: Socket, other: Socket): boolean => one.cookie === other.cookie && one.inode === other.inode

/** Whether only a program of this machine has the address. */
const isOwnAddress = (address: string): boolean => {
  const plain = address.replace(/^::ffff:(?=\d+\.)|%.*$/g, '')
  return (
    isLoopback(plain) ||
    Object.values(networkInterfaces()).some((all) => all?.some((own) => own.address.replace(/%.*$/, '') === plain))
  )
}

/** Where a socket is looked for; twice, for the kernel may skip one while others come and go. */
const tables = ['/proc/net/tcp', '/proc/net/tcp6', '/proc/net/tcp', '/proc/net/tcp6'] as const

/** The sockets with these ports in the tables of the kernel (proc(5)), which take milliseconds to read. */
const socketsInTables = (connection: Connection): readonly Socket[] | 'untold' => {
  let isTold = false
  for (const table of tables) {
    const lines = linesOf(table)
    isTold ||= lines.length > 0
    const found = lines.flatMap((line) => socketIn(line, connection))
    if (found.length > 0) return found
  }
  return isTold ? [] : 'untold'
}

/** The socket of one line, if it has the ports and was not closed. */
const socketIn = (line: string, { port, ownPort }: Connection): Socket[] => {
  const { 1: local, 2: remote, 7: uid, 9: inode = '0' } = line.trim().split(/\s+/)
  if (portOf(local) !== port || portOf(remote) !== ownPort || inode === '0') return []
  return [{ cookie: '', inode: Number(inode), uid: Number(uid) }]
}

const portOf = (address = ''): number => Number.parseInt(address.split(':')[1] ?? '', 16)

const linesOf = (path: string): string[] => {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    // Without IPv6 there is no table of it.
    return []
  }
}
