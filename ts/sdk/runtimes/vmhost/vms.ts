/** The verbs of sandboxes that are VMs of a host. */
import { randomBytes } from 'node:crypto'
import type { Vm } from '@backlot/contract/vmhost/vm'
import type { CallOptions, Listing } from '../../basics.ts'
import { buildImage } from '../../build/build-image.ts'
import { pause, within } from '../../deadline.ts'
import { BacklotError, ConnectionError, NotFoundError, TimeoutError, UnsupportedError } from '../../errors.ts'
import { stepsOf } from '../../image/dict.ts'
import { Image } from '../../image/image.ts'
import { isImage } from '../../sandbox/checks.ts'
import { listing } from '../../sandbox/listing.ts'
import type { CopyOptions, SandboxOptions, SandboxStatus, SavedSandbox, Source } from '../../sandbox/options.ts'
import { folders } from '../../state/folders.ts'
import { Records } from '../../state/records.ts'
import { HTTPTransport } from '../../transports/http.ts'
import type { HeldSandbox } from '../runtime.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { guestPort, keyPath, newKey, serverScript } from './guest.ts'
import type { VmHost } from './host.ts'
import { hostImage, pulled, removed } from './sources.ts'

/** Milliseconds that a change may take where its caller says nothing. */
const changeMs = 120_000
/** Milliseconds between two looks at a guest that starts. */
const lookEveryMs = 100
/** Milliseconds that one answer of a guest may take while it starts. */
const answerMs = 5_000
/** Seconds that the agent of a guest may take to tell the key. */
const agentSeconds = 3
/** Codes of a guest whose agent tells nothing. */
const silent = ['agent_unavailable', 'guest_timeout']

const statuses: Readonly<Record<Vm['status'], SandboxStatus>> = {
  provisioning: 'provisioning',
  pulling: 'provisioning',
  starting: 'provisioning',
  running: 'running',
  suspended: 'suspended',
  stopped: 'stopped',
  damaged: 'stopped',
}

/** A snapshot's id is the name of its VM, a dot, and its own name there: names of sandboxes have no dots. */
const snapshotId = (vm: string, snapshot: string): string => `${vm}.${snapshot}`
const unnamed = /^snapshot-[0-9a-f]{12}$/

/** The VMs of a host as sandboxes. */
export class Vms {
  /** `runtime` is the key that is stored with each sandbox. */
  constructor(
    readonly runtime: string,
    readonly host: VmHost,
  ) {}

  async start(source: Source, name: string, options: SandboxOptions): Promise<RuntimeInfo> {
    if (!isImage(source)) {
      throw new UnsupportedError(
        `A snapshot of a VM is put back into its own sandbox: \`sandbox.restore\`. For a copy of what runs call \`sandbox.fork\`.`,
        { data: { runtime: this.runtime } },
      )
    }
    const image = source as Image
    const unlimited = { ...options, timeoutMs: Number.POSITIVE_INFINITY }
    // Whoever waits for the start has its limit, which does not run while an image is fetched.
    return within(unlimited, 'The start of a VM', async (signal) => {
      const key = newKey()
      await this.#create(image, name, key, options, signal)
      options.onProgress?.({ phase: 'boot', message: 'The VM starts.', percent: null })
      const { operationId } = await this.host.ask(signal, (client) => client.runVm({ name }))
      await this.host.done(operationId, signal)
      const info = infoOf(await this.#get(name, signal), key)
      // The server has the variables from its start, and the layers have them from it.
      const layers = isOurs(image) ? withoutVariables(image) : image
      if (stepsOf(layers.toDict()).length === 0) return info
      await this.#whenReady(info, signal)
      const onLayer = (at: Parameters<NonNullable<Parameters<typeof buildImage>[2]>['onLayer'] & {}>[0]) =>
        options.onProgress?.({ phase: 'layer', ...at })
      await buildImage(transportTo(info), layers, { signal, onLayer })
      return info
    })
  }

  async stop(name: string, options: CallOptions): Promise<void> {
    await this.#within(options, 'The end of a VM', (signal) => removed(this.host, name, signal))
  }

  /** Whether the computer server answers in time; throws `unreachable` where the VM has ended. */
  async isReady(info: RuntimeInfo, options: CallOptions): Promise<boolean> {
    try {
      await this.#within(options, 'The start of the computer server', (signal) => this.#whenReady(info, signal))
      return true
    } catch (error) {
      if (BacklotError.is(error) && error instanceof TimeoutError) return false
      throw error
    }
  }

  async suspend(name: string, options: CallOptions): Promise<void> {
    await this.#within(options, 'The suspension of a VM', (signal) =>
      this.host.ask(signal, (client) => client.suspendVm({ name })),
    )
  }

  resume(name: string, options: CallOptions): Promise<RuntimeInfo> {
    return this.#within(options, 'The continuation of a VM', (signal) => this.#goOn(name, signal))
  }

  async list(options: CallOptions): Promise<readonly HeldSandbox[]> {
    const vms = await this.host.ask(options.signal, (client) => client.listVms())
    return vms.map(({ name, status, lastError }) => ({
      name,
      status: statuses[status],
      warnings: lastError === null ? [] : [lastError],
    }))
  }

  /** What the host logged about it, one JSON object a line. */
  async *logs(name: string, { follow = false, signal }: CallOptions & { follow?: boolean }): AsyncIterable<string> {
    await this.#get(name, signal)
    let told = 0
    for (;;) {
      const { info = [], error = [] } = await this.host.ask(signal, (client) => client.getLogs({ lines: 10_000 }))
      const lines = [...info, ...error].filter((line) => vmOf(line) === name).sort()
      yield* lines.slice(told)
      told = lines.length
      if (!follow) return
      await pause(logEveryMs, signal ?? new AbortController().signal)
    }
  }

  fork(name: string, forks: readonly string[], options: CopyOptions): Promise<RuntimeInfo[]> {
    refuseDiskAlone(options, 'fork')
    return this.#within(options, 'The fork of a VM', async (signal) => {
      const key = await this.#keyOf(name, signal)
      await this.host.ask(signal, (client) => client.forkVm({ name, names: [...forks] }))
      return Promise.all(forks.map((fork) => this.#withOwnKey(fork, key, signal)))
    })
  }

  snapshot(name: string, options: CopyOptions & { name?: string }): Promise<SavedSandbox> {
    refuseDiskAlone(options, 'snapshot')
    const snapshot = options.name ?? `snapshot-${randomBytes(6).toString('hex')}`
    return this.#within(options, 'The snapshot of a VM', async (signal) =>
      this.#saved(name, await this.host.ask(signal, (client) => client.takeSnapshot({ name, snapshot }))),
    )
  }

  restore(name: string, saved: SavedSandbox, options: CallOptions): Promise<RuntimeInfo> {
    return this.#within(options, 'The return to a snapshot', async (signal) => {
      const { snapshot } = placeOf(saved.id)
      const snapshots = await this.host.ask(signal, (client) => client.listSnapshots({ name }))
      // Looked at first: what runs is not ended for nothing.
      if (!snapshots.some((each) => each.name === snapshot)) throw noSnapshot(saved.id)
      const { status } = await this.#get(name, signal)
      if (status === 'running') await this.host.ask(signal, (client) => client.stopVm({ name, graceSeconds: 0 }))
      await this.host.ask(signal, (client) => client.restoreSnapshot({ name, snapshot }))
      return this.#goOn(name, signal)
    })
  }

  listSnapshots({ signal }: CallOptions): Listing<SavedSandbox> {
    return listing(async () => {
      const vms = await this.host.ask(signal, (client) => client.listVms())
      const whole = vms.filter(({ status }) => status !== 'provisioning' && status !== 'pulling')
      const found = await Promise.all(
        whole.map(async ({ name }) => {
          const snapshots = await this.host.ask(signal, (client) => client.listSnapshots({ name }))
          return snapshots.map((each) => this.#saved(name, each))
        }),
      )
      return found.flat()
    })
  }

  async deleteSnapshot(id: string, { signal }: CallOptions): Promise<void> {
    const { vm: name, snapshot } = placeOf(id)
    try {
      await this.host.ask(signal, (client) => client.deleteSnapshot({ name, snapshot }))
    } catch (error) {
      if (BacklotError.is(error) && error.code === 'sandbox_not_found') throw noSnapshot(id)
      throw error
    }
  }

  #saved(vm: string, { name, createdAt, hasMemory, memoryBytes }: Saved): SavedSandbox {
    const id = snapshotId(vm, name)
    return {
      ...{ id, name: unnamed.test(name) ? null : name, sandbox: vm, source: this.runtime, memory: hasMemory },
      ...{ sizeBytes: memoryBytes, createdAt, delete: (options = {}) => this.deleteSnapshot(id, options) },
    }
  }

  async #create(image: Image, name: string, key: string, options: SandboxOptions, signal: AbortSignal): Promise<void> {
    const { image: reference, diskGb } = await hostImage(this.host, image, options, signal)
    const input = {
      ...{ name, os: 'linux' as const, image: reference, display: '1280x800', network: 'nat' as const },
      cpu: options.cpu ?? 2,
      memory: `${options.memoryMb ?? (image.osType === 'windows' ? 4_096 : 2_048)}MB`,
      diskSize: `${options.diskGb ?? diskGb}GB`,
      ...(isOurs(image) && { userData: serverScript(key, image.toDict().env ?? {}), executable: true }),
    }
    const create = () => this.host.ask(signal, (client) => client.createVm(input))
    try {
      await create()
    } catch (error) {
      if (!BacklotError.is(error) || error.code !== 'image_not_found' || image.distro !== 'registry') throw error
      await pulled(this.host, reference, name, options, signal)
      await create()
    }
  }

  #get(name: string, signal: AbortSignal | undefined): Promise<Vm> {
    return this.host.ask(signal, (client) => client.getVm({ name }))
  }

  /** Continues one that is suspended; one that stopped boots. */
  async #goOn(name: string, signal: AbortSignal): Promise<RuntimeInfo> {
    const { status } = await this.#get(name, signal)
    if (status === 'suspended') await this.host.ask(signal, (client) => client.resumeVm({ name }))
    else if (status !== 'running') {
      const { operationId } = await this.host.ask(signal, (client) => client.runVm({ name }))
      await this.host.done(operationId, signal)
    }
    return infoOf(await this.#get(name, signal), await this.#keyOf(name, signal))
  }

  /** The key of a guest's server, as it was stored or as its agent tells; undefined where it asks for none. */
  async #keyOf(name: string, signal: AbortSignal): Promise<string | undefined> {
    const { api_key: stored } = await new Records(`${folders().state}/sandboxes`).readKeys(name)
    if (stored !== undefined) return stored
    const [command, timeoutSeconds] = [`cat ${keyPath} 2>/dev/null || true`, agentSeconds]
    try {
      const { stdout } = await this.host.ask(signal, (client) => client.execInVm({ name, command, timeoutSeconds }))
      return stdout.trim() || undefined
    } catch (error) {
      if (BacklotError.is(error) && silent.includes(String(error.data.serverCode))) return undefined
      throw error
    }
  }

  /** Gives a fork another key than its parent's, by the server that still has that one, and starts the server again. */
  async #withOwnKey(name: string, parents: string | undefined, signal: AbortSignal): Promise<RuntimeInfo> {
    const info = infoOf(await this.#get(name, signal), parents)
    if (parents === undefined) return info
    await this.#whenReady(info, signal)
    const key = newKey()
    const url = `${urlOf(info)}/files?path=${encodeURIComponent(keyPath)}&overwrite=true`
    const answer = await fetch(url, {
      ...{ method: 'PUT', body: `${key}\n`, headers: { 'X-API-Key': parents }, signal },
    })
    if (!answer.ok) {
      const text = `The fork "${name}" cannot be given a key of its own (status ${answer.status}): ${await answer.text()}`
      throw new ConnectionError('invalid_response', text, { data: { name } })
    }
    const command = `chmod 600 ${keyPath}; kill $(pidof backlot)`
    await this.host.ask(signal, (client) => client.execInVm({ name, command }))
    const own = { ...info, apiKey: key }
    await this.#whenReady(own, signal)
    return own
  }

  /** Waits until the computer server of a guest answers; throws `unreachable` where its VM has ended. */
  async #whenReady(info: RuntimeInfo, signal: AbortSignal): Promise<void> {
    const headers: Record<string, string> = info.apiKey === undefined ? {} : { 'X-API-Key': info.apiKey }
    for (;;) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)])
      const answer = await fetch(`${urlOf(info)}/status`, { headers, signal: limit })
        .then(async (response) => (response.ok ? ((await response.json()) as GuestStatus) : undefined))
        .catch(() => undefined)
      if (answer !== undefined && isUsable(answer)) return
      signal.throwIfAborted()
      const { status, lastEnding } = await this.#get(info.name ?? '', signal)
      if (status !== 'running' && status !== 'starting') {
        const why = lastEnding?.cause ?? `it is ${status}`
        const text = `The VM "${info.name}" ended before its computer server answered: ${why}.`
        throw new ConnectionError('unreachable', text, { data: { name: info.name } })
      }
      await pause(lookEveryMs, signal)
    }
  }

  #within<T>(options: CallOptions, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within(options, what, work, changeMs)
  }
}

/** Whether the guest is given our computer server: it runs Linux, and nobody says that it has another. */
const isOurs = (image: Image): boolean => image.osType === 'linux' && image.toDict().agent_type === undefined

/** What is left to carry out where the server has the variables already. */
const withoutVariables = (image: Image): Image => {
  const { env: _, steps, ...rest } = image.toDict()
  const others = steps?.filter(({ type }) => type !== 'env')
  return Image.fromDict({ ...rest, ...(others && { steps: others }) })
}

/** A snapshot as the host tells it. */
interface Saved {
  readonly name: string
  readonly createdAt: string
  readonly hasMemory: boolean
  readonly memoryBytes: number
}

/** What a guest answers to `GET /status`; servers of other makers tell no phase. */
interface GuestStatus {
  readonly phase?: unknown
  readonly server?: unknown
}

const isUsable = ({ phase, server }: GuestStatus): boolean =>
  server !== 'none' && (phase === undefined || phase === 'ready')

/** Milliseconds between two looks at a log that is followed. */
const logEveryMs = 1_000

const vmOf = (line: string): unknown => {
  try {
    return (JSON.parse(line) as { vm?: unknown }).vm
  } catch {
    return undefined
  }
}

const urlOf = ({ host, apiPort }: RuntimeInfo): string => `http://${host}:${apiPort}`

const transportTo = (info: RuntimeInfo): HTTPTransport =>
  new HTTPTransport(urlOf(info), info.apiKey === undefined ? {} : { apiKey: info.apiKey })

const placeOf = (id: string): { vm: string; snapshot: string } => {
  const [, vm, snapshot] = /^([^.]+)\.(.+)$/.exec(id) ?? []
  if (vm === undefined || snapshot === undefined) throw noSnapshot(id)
  return { vm, snapshot }
}

const noSnapshot = (id: string): NotFoundError =>
  new NotFoundError('snapshot_not_found', `There is no snapshot "${id}". \`Snapshot.list()\` names those there are.`, {
    data: { id },
  })

const refuseDiskAlone = ({ memory }: CopyOptions, verb: string): void => {
  if (memory !== false) return
  throw new UnsupportedError(`A VM is copied with its running programs. Call \`${verb}\` without { memory: false }.`)
}

/** How a VM that runs is reached; throws `unreachable` where no port of this machine leads to it. */
const infoOf = (vm: Vm, key: string | undefined): RuntimeInfo => {
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
