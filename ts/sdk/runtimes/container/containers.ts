/** Containers of this home: made, looked at and removed, and none of anybody else. */
import { ConflictError, InvalidArgumentError, NotFoundError } from '../../errors.ts'
import type { SandboxOptions } from '../../sandbox/options.ts'
import { hasEnded } from '../../state/owner.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { archive, fileOf } from './archive.ts'
import { type Engine, EngineError } from './engine.ts'
import { containerOf, home, label, ownerIn } from './labels.ts'

/** What the engine says of a container. */
export interface Inspected {
  readonly Id: string
  readonly Image: string
  readonly State: { readonly Status: string; readonly ExitCode: number; readonly OOMKilled: boolean }
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null }
  readonly HostConfig: object
  readonly NetworkSettings: {
    readonly Ports: Readonly<Record<string, readonly { readonly HostPort: string }[] | null>>
  }
}

/** Where the computer server looks for its key, and the user that it runs as. */
export const keyPath = 'run/secrets/backlot_computer_key'
export const agentUid = 1_000

const ports = { '8000/tcp': {}, '6080/tcp': {} }
const onLoopback = [{ HostIp: '127.0.0.1', HostPort: '' }]

/** Ports on 127.0.0.1 alone, limits and folders of a container. */
export const hostConfig = ({ cpu, memoryMb, mounts = [] }: SandboxOptions): Record<string, unknown> => ({
  PortBindings: { '8000/tcp': onLoopback, '6080/tcp': onLoopback },
  ...(cpu !== undefined && { NanoCpus: Math.round(cpu * 1e9) }),
  ...(memoryMb !== undefined && {
    Memory: Math.round(memoryMb * 1_048_576),
    MemorySwap: Math.round(memoryMb * 1_048_576),
  }),
  Mounts: mounts.map(({ hostPath, path, readOnly = false }) => ({
    Type: 'bind',
    Source: hostPath,
    Target: path,
    ReadOnly: readOnly,
  })),
})

/** What is to be made. */
export interface ContainerPlan {
  readonly container: string
  readonly image: string
  readonly labels: Readonly<Record<string, string>>
  readonly host: object
  readonly key: string
  /** Differences from the image, such as its first program. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly uid?: number
  readonly signal?: AbortSignal | undefined
}

/** Makes a container, puts its key into it and starts it; on failure nothing of it is left. Throws `sandbox_exists`. */
export const startContainer = async (engine: Engine, plan: ContainerPlan): Promise<Inspected> => {
  const { container, image, labels, host, key, config = {}, uid = agentUid, signal } = plan
  const body = { Image: image, Labels: labels, ExposedPorts: ports, HostConfig: host, ...config }
  const { Id } = await engine
    .call<{ Id: string }>('POST', '/containers/create', { query: { name: container }, body, signal })
    .catch((error) => {
      throw refusal(error, container)
    })
  try {
    const file = fileOf(keyPath, Buffer.from(key), 0o400, uid)
    await engine.call('PUT', `/containers/${Id}/archive`, { query: { path: '/' }, body: archive([file]), signal })
    await engine.call('POST', `/containers/${Id}/start`, { signal })
    return await inspect(engine, Id, signal)
  } catch (error) {
    await removeContainer(engine, Id)
    throw refusal(error, container)
  }
}

const refusal = (error: unknown, container: string): unknown => {
  if (!(error instanceof EngineError)) return error
  if (error.status === 409) {
    return new ConflictError('sandbox_exists', `The engine has "${container}" already. Give another name.`, {
      cause: error,
    })
  }
  return new InvalidArgumentError('invalid_argument', `The engine does not start "${container}": ${error.message}.`, {
    cause: error,
  })
}

/** What the engine says of a container, by id or name. */
export const inspect = (engine: Engine, id: string, signal?: AbortSignal): Promise<Inspected> =>
  engine.call<Inspected>('GET', `/containers/${encodeURIComponent(id)}/json`, { signal })

/** The container of a sandbox of this home; throws `sandbox_not_found`, also for one that somebody else named so. */
export const ofSandbox = async (engine: Engine, name: string, signal?: AbortSignal): Promise<Inspected> => {
  const look = () =>
    inspect(engine, containerOf(name), signal).catch((error) => {
      if (error instanceof EngineError && error.status === 404) return undefined
      throw error
    })
  let found = await look()
  if (found === undefined) {
    // Its files may have been put back by a program that was killed.
    await sweepLeft(engine, signal)
    found = await look()
  }
  const labels = found?.Config.Labels ?? {}
  if (found !== undefined && labels[label.home] === home() && labels[label.sandbox] === name) return found
  const text = `The runtime "container" has no sandbox "${name}". \`Sandbox.list()\` names those there are.`
  throw new NotFoundError('sandbox_not_found', text, { data: { name } })
}

/** Ends and removes a container with its volumes; one that is gone already is fine. */
export const removeContainer = async (engine: Engine, id: string, signal?: AbortSignal): Promise<void> => {
  try {
    await engine.call('DELETE', `/containers/${id}`, { query: { force: true, v: true }, signal })
  } catch (error) {
    // 409: somebody else removes it right now.
    if (!(error instanceof EngineError) || (error.status !== 404 && error.status !== 409)) throw error
  }
}

type Listed = { Id: string; Names: string[]; Labels: Record<string, string> }

/** Ends what programs of this home that were killed have left half done: layers that they built, files that they put back. */
export const sweepLeft = async (engine: Engine, signal?: AbortSignal): Promise<void> => {
  const filters = JSON.stringify({ label: [`${label.home}=${home()}`] })
  const query = { all: true, filters }
  const found = await engine.call<Listed[]>('GET', '/containers/json', { query, signal })
  for (const each of found) {
    const owner = ownerIn(each.Labels[label.owner])
    if (owner === undefined || !(await hasEnded(owner))) continue
    if (each.Labels[label.build] !== undefined) await removeContainer(engine, each.Id, signal)
    else await endRestore(engine, each, found, signal)
  }
}

const isNamed = ({ Names }: Listed, name: string): boolean => Names.includes(`/${name}`)

/**
 * Ends an exchange that was cut short: while both containers are there it was not made; where the one that was to be replaced
 * is gone, the other takes its name. It is stopped, because where it is reached was told to nobody.
 */
const endRestore = async (
  engine: Engine,
  aside: Listed,
  all: readonly Listed[],
  signal: AbortSignal | undefined,
): Promise<void> => {
  const sandbox = aside.Labels[label.sandbox]
  if (sandbox === undefined || isNamed(aside, containerOf(sandbox))) return
  if (all.some((other) => isNamed(other, containerOf(sandbox)))) return removeContainer(engine, aside.Id, signal)
  try {
    await engine.call('POST', `/containers/${aside.Id}/stop`, { query: { t: 1 }, signal })
    await engine.call('POST', `/containers/${aside.Id}/rename`, { query: { name: containerOf(sandbox) }, signal })
  } catch (error) {
    // Another program ends it at the same time.
    if (!(error instanceof EngineError)) throw error
  }
}

/** How a container is reached. */
export const infoOf = ({ Id, NetworkSettings }: Inspected, name: string, key?: string): RuntimeInfo => {
  const port = (inside: number) => Number(NetworkSettings.Ports[`${inside}/tcp`]?.[0]?.HostPort)
  return {
    host: '127.0.0.1',
    apiPort: port(8_000),
    ...(key !== undefined && { apiKey: key }),
    guestServerPort: 8_000,
    name,
    containerId: Id,
    environment: 'linux',
  }
}
