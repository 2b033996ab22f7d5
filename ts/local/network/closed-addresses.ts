/**
 * What a sandbox with a network does not reach: this machine by whatever address, and what is meant for it alone. Routes in
 * the sandbox's network say so, which belongs to a user namespace above that of its programs: they cannot change them.
 */
import { networkInterfaces } from 'node:os'
import { Failure } from '@backlot/contract/failure'
import { program } from '../programs.ts'

/** Networks that never lead to another machine, or to one that tells this machine's secrets (as clouds do at 169.254.169.254). */
const never = ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '240.0.0.0/4']

const numberOf = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)

const addressOf = (number: number): string => [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.')

/** The IPv4 addresses by which this machine is reached, and those by which all of its networks are. */
export const addressesHere = (interfaces = networkInterfaces()): string[] => {
  const own = Object.values(interfaces)
    .flatMap((each) => each ?? [])
    .filter(({ family, address }) => family === 'IPv4' && !address.startsWith('127.'))
  return [
    ...new Set(
      own.flatMap(({ address, netmask }) => [address, addressOf((numberOf(address) | ~numberOf(netmask)) >>> 0)]),
    ),
  ].toSorted()
}

/** What keeps a network closed; it goes on while addresses of this machine come and go. */
export interface ClosedAddresses {
  /** Looks at the addresses again, and closes those that are new. Throws `sandbox_not_started` where it cannot. */
  refresh(): Promise<void>
}

/** The user namespace that owns a network, by a path, and whether its user 0 is another one than this process's. */
export interface NetworkOwner {
  readonly path: string
  readonly isOtherUser: boolean
}

/** Closes the network of a process; root needs not enter the user namespace that owns it. */
export const closeAddresses = async (pid: number, owner: NetworkOwner | null): Promise<ClosedAddresses> => {
  const enter = [
    ...[program('nsenter', 'A network'), `--net=/proc/${pid}/ns/net`],
    ...(owner === null ? [] : [`--user=${owner.path}`, ...(owner.isOtherUser ? [] : ['--preserve-credentials'])]),
    ...['--', program('ip', 'A network'), '-batch', '-'],
  ]
  let closed: readonly string[] = []
  const refresh = async (): Promise<void> => {
    const wanted = [...never, ...addressesHere()]
    const lines = [
      ...wanted.filter((each) => !closed.includes(each)).map((each) => `route replace prohibit ${each}`),
      ...closed.filter((each) => !wanted.includes(each)).map((each) => `route del prohibit ${each}`),
    ]
    if (lines.length === 0) return
    const child = Bun.spawn(enter, {
      stdin: Buffer.from(`${lines.join('\n')}\n`),
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const [errors, status] = await Promise.all([child.stderr.text(), child.exited])
    if (status !== 0) {
      throw new Failure(
        'sandbox_not_started',
        `The way from the sandbox to this machine could not be closed (${errors.trim()}). Start it with --network loopback.`,
      )
    }
    closed = wanted
  }
  await refresh()
  return { refresh }
}
