/** What a caller asks of a sandbox, checked: first for sense, then against what its runtime can do. */
import { invalidArgument, UnsupportedError } from '../errors.ts'
import type { Image } from '../image/image.ts'
import { type Resources, type RuntimeFeatures, reasonAgainst } from '../runtimes/features.ts'
import { checkName } from './names/name.ts'
import type { SandboxOptions, SavedSandbox, Source } from './options.ts'

/** Names of the sizes. */
export const sizes = ['cpu', 'memoryMb', 'diskGb'] as const satisfies readonly (keyof Resources)[]

/** Whether a source is an image. */
export const isImage = (source: Source): source is Image =>
  typeof (source as { toDict?: unknown }).toDict === 'function'

/** Throws `invalid_argument` for options that no sandbox can have. */
export const checkOptions = (source: unknown, options: SandboxOptions): void => {
  const given = source as Partial<Record<'toDict' | 'id', unknown>> | null | undefined
  if (typeof given?.toDict !== 'function' && typeof given?.id !== 'string') {
    throw invalidArgument(
      'source',
      'A sandbox starts from an `Image` or a `Snapshot`; give one, such as `Image.desktop()`.',
    )
  }
  if (options.name !== undefined) checkName(options.name)
  for (const size of sizes) {
    const value = options[size]
    if (value !== undefined && !(typeof value === 'number' && value > 0 && Number.isFinite(value))) {
      throw invalidArgument(size, `"${size}" is ${JSON.stringify(value)}; it is a number greater than 0.`)
    }
  }
  checkTtl(options.ttlMs)
  for (const [key, value] of Object.entries(options.labels ?? {})) {
    if (typeof value !== 'string')
      throw invalidArgument('labels', `The label "${key}" is ${JSON.stringify(value)}; labels are strings.`)
  }
  const { network } = options
  const isNetwork =
    network === undefined ||
    ['none', 'loopback', 'internet'].includes(network as string) ||
    (typeof network === 'object' && Array.isArray(network?.allow))
  if (!isNetwork) {
    throw invalidArgument(
      'network',
      `"network" is ${JSON.stringify(network)}; it is none, loopback, internet or { allow }.`,
    )
  }
}

/** Throws `invalid_argument` for a time to live that is none. */
export const checkTtl = (ttlMs: number | null | undefined): void => {
  if (ttlMs === undefined || ttlMs === null) return
  if (typeof ttlMs === 'number' && ttlMs > 0 && Number.isFinite(ttlMs) && ttlMs < 1e15) return
  throw invalidArgument('ttlMs', `"ttlMs" is ${ttlMs}; it is a number of milliseconds greater than 0.`)
}

/** Throws `unsupported` for what a runtime cannot do. */
export const checkFeatures = (
  name: string,
  features: RuntimeFeatures,
  source: Source,
  options: SandboxOptions,
): void => {
  const refuse = (what: string): never => {
    throw new UnsupportedError(what, { data: { runtime: name } })
  }
  const refuseFor = (ability: Parameters<typeof reasonAgainst>[0]) => {
    const reason = reasonAgainst(ability)
    if (reason !== undefined) refuse(reason)
  }
  if (isImage(source)) {
    if (!features.os.includes(source.osType)) {
      refuse(`The runtime "${name}" starts ${features.os.join(' and ')}, not ${source.osType}. Choose another runtime.`)
    }
    if (source.kind !== null && !features.kinds.includes(source.kind)) {
      refuse(
        `The runtime "${name}" starts a ${features.kinds.join(' or a ')}, not a ${source.kind}. Choose another runtime or image.`,
      )
    }
  } else if (source.source !== name) {
    refuse(`The snapshot "${source.id}" is of the runtime "${source.source}". Start it there, not in "${name}".`)
  }
  if ((options.mounts ?? []).length > 0) refuseFor(features.mounts)
  const kind = typeof options.network === 'object' ? 'allow' : options.network
  if (kind !== undefined) {
    refuseFor(features.network)
    const able = features.network as readonly string[]
    if (!able.includes(kind)) refuse(`The runtime "${name}" has the networks ${able.join(', ')}, not "${kind}".`)
  }
  const asked = sizes.filter((size) => options[size] !== undefined)
  if (asked.length > 0) refuseFor(features.resources)
  for (const size of asked) {
    if (!(features.resources as readonly string[]).includes(size)) refuse(`The runtime "${name}" cannot set "${size}".`)
  }
}

/** A snapshot as it is stored. */
export const snapshotDict = (snapshot: SavedSandbox) => ({
  id: snapshot.id,
  name: snapshot.name,
  size_bytes: snapshot.sizeBytes,
  sandbox: snapshot.sandbox,
  source: snapshot.source,
  memory: snapshot.memory,
  created_at: snapshot.createdAt,
})
