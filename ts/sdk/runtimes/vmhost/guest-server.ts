/** The way to the computer server of a guest: its address, when it answers, and its key. */
import type { Vm } from '@backlot/contract/vmhost/vm'
import { pause } from '../../deadline.ts'
import { BacklotError, ConnectionError } from '../../errors.ts'
import { HTTPTransport } from '../../transports/http.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { guestPort, keyPath, newKey } from './guest.ts'
import type { VmHost } from './host.ts'

/** Milliseconds between two looks at a guest that starts. */
const pollIntervalMs = 100
/** Milliseconds that one answer of a guest may take while it starts. */
const answerMs = 5_000
/** Seconds that the agent of a guest may take to tell the key. */
const agentTellsSeconds = 3
/** Seconds for what is removed from a fork that has an agent. */
const copiesSeconds = 30
/** Codes of a guest whose agent tells nothing. */
const silent = ['agent_unavailable', 'guest_timeout']

/** Whether an error says that no agent of the guest answers. */
export const isSilent = (error: unknown): boolean =>
  BacklotError.is(error) && silent.includes(String(error.data.serverCode))

/** What a guest answers to `GET /status`; servers of other makers tell no phase. */
interface GuestStatus {
  readonly phase?: unknown
  readonly server?: unknown
}

const isUsable = ({ phase, server }: GuestStatus): boolean =>
  server !== 'none' && (phase === undefined || phase === 'ready')

const urlOf = ({ host, apiPort }: RuntimeInfo): string => `http://${host}:${apiPort}`

/** Calls the server of a guest. */
export const transportTo = (info: RuntimeInfo): HTTPTransport =>
  new HTTPTransport(urlOf(info), info.apiKey === undefined ? {} : { apiKey: info.apiKey })

/** How a VM that runs is reached; throws `unreachable` where no port of this machine leads to it. */
export const infoOf = (vm: Vm, key: string | undefined): RuntimeInfo => {
  const leadingTo = (port: number) => vm.forwards.find(({ guestPort }) => guestPort === port)
  const [server, ssh] = [leadingTo(guestPort), leadingTo(22)]
  if (server === undefined) {
    const text = `No port of this machine leads to port ${guestPort} of the VM "${vm.name}", which is ${vm.status}.`
    throw new ConnectionError('unreachable', text, { data: { name: vm.name } })
  }
  const vnc = vm.vncUrl === null ? null : URL.parse(vm.vncUrl)
  return {
    ...{ host: server.address, apiPort: server.port, guestServerPort: guestPort, name: vm.name },
    ...(key !== undefined && { apiKey: key }),
    ...(vm.guestOs === 'windows' || vm.guestOs === 'linux' ? { environment: vm.guestOs } : {}),
    ...(vnc !== null && { vncHost: vnc.hostname, vncPort: Number(vnc.port), vncPassword: vnc.password }),
    ...(ssh !== undefined && { sshPort: ssh.port, sshUsername: 'root' }),
  }
}

/** Waits until the computer server of a guest answers; throws `unreachable` where its VM has ended. */
export const whenReady = async (host: VmHost, info: RuntimeInfo, signal: AbortSignal): Promise<void> => {
  const headers: Record<string, string> = info.apiKey === undefined ? {} : { 'X-API-Key': info.apiKey }
  for (;;) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
    const answer = await fetch(`${urlOf(info)}/status`, { headers, signal: limit })
      .then(async (response) => (response.ok ? ((await response.json()) as GuestStatus) : undefined))
      .catch(() => undefined)
    if (answer !== undefined && isUsable(answer)) return
    signal.throwIfAborted()
    const { status, lastEnding } = await host.ask(signal, (client) => client.getVm({ name: info.name ?? '' }))
    if (status !== 'running' && status !== 'starting') {
      const why = lastEnding?.cause ?? `it is ${status}`
      const text = `The VM "${info.name}" ended before its computer server answered: ${why}.`
      throw new ConnectionError('unreachable', text, { data: { name: info.name } })
    }
    await pause(pollIntervalMs, signal)
  }
}

/** The key of a guest's server as its agent tells it; undefined where it asks for none, or the agent says nothing in time. */
export const keyByAgent = async (host: VmHost, name: string, signal: AbortSignal): Promise<string | undefined> => {
  try {
    return await keyFrom(host, name, agentTellsSeconds, signal)
  } catch (error) {
    if (isSilent(error)) return undefined
    throw error
  }
}

/** The key of a guest's server, from an agent that is there and may take its time; undefined where it asks for none. */
export const keyFrom = async (
  host: VmHost,
  name: string,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const command = `cat ${keyPath} 2>/dev/null || true`
  const { stdout } = await host.ask(signal, (client) => client.execInVm({ name, command, timeoutSeconds }))
  return stdout.trim() || undefined
}

/** The keys of a VM and of the forks that are made of it; what a fork is told at its next start has its own in it. */
export interface ForkKeys {
  /** Undefined where its server asks for none. */
  readonly parents: string | undefined
  readonly own: readonly string[]
}

/**
 * Makes forks that run, each with another key than its parent's, and gives whose their identity is; of the VM as it was at a
 * snapshot where one is named.
 */
export const forkWithKeys = async (
  host: VmHost,
  name: string,
  names: readonly string[],
  parents: string | undefined,
  signal: AbortSignal,
  snapshot?: string,
): Promise<{ identity: readonly string[]; keys: ForkKeys }> => {
  const own = names.map(() => newKey())
  const change = parents === undefined ? {} : { replaced: parents, replacements: [...own] }
  const wanted = { name, names: [...names], ...change, ...(snapshot !== undefined && { snapshot }) }
  const { identity } = await host.ask(signal, (client) => client.forkVm(wanted))
  return { identity, keys: { parents, own } }
}

/** Gives a fork its own key, by the server that still has its parent's: it reads the file again. */
export const withOwnKey = async (
  host: VmHost,
  name: string,
  { parents, own: [key = newKey()] }: ForkKeys,
  signal: AbortSignal,
): Promise<RuntimeInfo> => {
  const info = infoOf(await host.ask(signal, (client) => client.getVm({ name })), parents)
  if (parents === undefined) return info
  await whenReady(host, info, signal)
  const url = `${urlOf(info)}/files?path=${encodeURIComponent(keyPath)}&overwrite=true`
  const answer = await fetch(url, { method: 'PUT', body: `${key}\n`, headers: { 'X-API-Key': parents }, signal })
  if (!answer.ok) {
    const text = `The fork "${name}" cannot be given a key of its own (status ${answer.status}): ${await answer.text()}`
    throw new ConnectionError('invalid_response', text, { data: { name } })
  }
  await forget(host, name, parents, signal)
  return { ...info, apiKey: key }
}

/** Where guests keep copies of what they were told when they started. */
const copies = '/run/seed /var/lib/backlot /var/lib/cloud/instances'

/** Removes the copies of what the parent was told, with its key, from a fork; one without an agent keeps them. */
const forget = async (host: VmHost, name: string, parents: string, signal: AbortSignal): Promise<void> => {
  // The key is read, so that nobody in the guest sees it on a command line.
  const command = `grep -rlsF -f - ${copies} | while read -r file; do rm -f "$file"; done`
  try {
    const input = `${parents}\n`
    await host.ask(signal, (client) => client.execInVm({ name, command, input, timeoutSeconds: copiesSeconds }))
  } catch (error) {
    if (!isSilent(error)) throw error
  }
}
