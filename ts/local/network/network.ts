/** What a sandbox reaches over the network: itself, or what this machine reaches but for the machine itself. */
import { accessSync, closeSync, constants, readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { isRoot } from '../isolation/entering.ts'
import { ownerOfNetwork } from '../isolation/namespace-owner.ts'
import { findProgram, installing } from '../programs.ts'
import type { Network } from '../state/record.ts'
import { closeAddresses } from './closed-addresses.ts'

/** The device that slirp4netns makes the sandbox's network of. */
const tunnelDevice = '/dev/net/tun'

/** Refuses a network that cannot be had here; throws `unsupported`. */
export const refuseNetwork = (network: Network): void => {
  if (network !== 'internet') return
  if (findProgram('slirp4netns') === null) {
    throw new Failure(
      'unsupported',
      `A sandbox reaches the internet by "slirp4netns", not installed here; run: ${installing('slirp4netns')}, or start it with --network loopback.`,
      { packages: ['slirp4netns'] },
    )
  }
  if (findProgram('ip') === null) {
    throw new Failure(
      'unsupported',
      `The way from a sandbox to this machine is closed by "ip", not installed here; run: ${installing('ip')}, or start it with --network loopback.`,
      { packages: ['iproute2'] },
    )
  }
  try {
    accessSync(tunnelDevice, constants.R_OK | constants.W_OK)
  } catch {
    throw new Failure(
      'unsupported',
      `A sandbox reaches the internet by "${tunnelDevice}", which this user may not open or which is not there; as root run: modprobe tun; chmod 0666 ${tunnelDevice}, or start it with --network loopback.`,
      { device: tunnelDevice },
    )
  }
}

/** The networks that sandboxes of this user can have here. */
export const networksHere = (): Network[] => {
  try {
    refuseNetwork('internet')
    return ['none', 'loopback', 'internet']
  } catch {
    return ['none', 'loopback']
  }
}

/** `resolv.conf` of a sandbox: the resolver that slirp4netns offers. */
export const resolver = (network: Network): string => (network === 'internet' ? 'nameserver 10.0.2.3\n' : '')

/** The network of one sandbox. */
export interface NetworkCarrier {
  /** Settles when it has ended, which takes the network from the sandbox. */
  readonly ended: Promise<number>
  end(): void
}

/** Gives the namespaces of a process a way to the internet; settles when it is there. Ends with this process. */
export const connectToInternet = async (
  init: number,
  isOwnRoot: boolean,
  log: (bytes: Uint8Array) => void,
): Promise<NetworkCarrier> => {
  await whenSetUp(init)
  // Root needs not become the owner of the network to enter it.
  const owner = isRoot() ? null : ownerOfNetwork(init)
  const letGo = () => {
    if (owner !== null) closeSync(owner)
  }
  const ownerPath = owner === null ? null : `/proc/${process.pid}/fd/${owner}`
  // Before there is a way out.
  const who = ownerPath === null ? null : { path: ownerPath, isOtherUser: isOwnRoot }
  const closed = await closeAddresses(init, who).catch((error) => {
    letGo()
    throw error
  })
  const child = Bun.spawn(carrierWords(init, ownerPath), { cwd: '/', stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  let said = ''
  void (async () => {
    for await (const bytes of child.stderr) {
      said = `${said}${new TextDecoder().decode(bytes)}`.slice(-400)
      log(bytes)
    }
  })()
  const isReady = await saysReady(child.stdout)
  if (!isReady) {
    child.kill('SIGKILL')
    await child.exited
    letGo()
    throw new Failure(
      'sandbox_not_started',
      `The sandbox got no way to the internet: slirp4netns ended (${said.trim()}). Start it with --network loopback.`,
    )
  }
  const looks = setInterval(() => {
    closed.refresh().catch((error) => {
      log(new TextEncoder().encode(`the network ends: ${error.message}\n`))
      child.kill('SIGKILL')
    })
  }, recheckMs)
  looks.unref()
  const ended = child.exited.finally(() => {
    clearInterval(looks)
    letGo()
  })
  return { ended, end: () => child.kill('SIGKILL') }
}

/** The command that carries the network of a process; `ownerPath` is the namespace that owns it, null for root's. */
const carrierWords = (init: number, ownerPath: string | null): string[] => [
  ...[findProgram('slirp4netns') ?? 'slirp4netns', '--configure', '--mtu=65520', '--disable-host-loopback'],
  // It has all of the host's files otherwise, and speaks with the sandbox.
  ...(isRoot() ? ['--enable-sandbox'] : []),
  ...['--exit-fd=0', '--ready-fd=1'],
  // Told of a process alone, it joins that one's user namespace, which owns nothing once bwrap has made another below.
  ...(ownerPath === null
    ? ['--netns-type=path', `/proc/${init}/ns/net`]
    : [`--userns-path=${ownerPath}`, String(init)]),
  'tap0',
]

/** Milliseconds between two looks at the addresses of this machine, which may get others. */
const recheckMs = 2_000

/** Milliseconds after which bwrap has failed to set up the namespaces of a process, which it then says itself. */
const setUpMs = 5_000

/**
 * Settles when bwrap has brought up the loopback of a process's network, and has said who the users of its user namespace
 * are. It takes its process id for the port of its netlink socket (netlink(7)), and gives up where another in the same
 * network, such as that of slirp4netns, has it; and a program that enters a user namespace without a map of users has no
 * rights there (user_namespaces(7)).
 */
const whenSetUp = async (pid: number): Promise<void> => {
  const deadline = performance.now() + setUpMs
  const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8')
  while (performance.now() < deadline) {
    try {
      if (read('net/fib_trie').includes('127.0.0.1') && read('uid_map').trim() !== '') return
    } catch {
      // It has ended.
      return
    }
    await Bun.sleep(1)
  }
}

/** Whether it writes the `1` that means that the network is there. */
const saysReady = async (output: ReadableStream<Uint8Array>): Promise<boolean> => {
  for await (const bytes of output) if (bytes.includes(0x31)) return true
  return false
}
