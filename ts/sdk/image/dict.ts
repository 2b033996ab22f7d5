/** An image as plain data: what it holds, and the check of what comes from elsewhere. */
import type { ImageKind, OsType } from '../basics.ts'
import { InvalidArgumentError } from '../errors.ts'
import { aText, type FieldKind, fieldsFault, listOf, oneOf, quotedValue } from './field.ts'
import type { BuildStep, Layer } from './layer.ts'
import { checkedStep, fitsOs, isLayer } from './layers.ts'

/** Operating systems that an image may hold. */
export const osTypes: readonly OsType[] = ['linux', 'macos', 'windows', 'android']

/** What an image runs as. */
export const imageKinds: readonly ImageKind[] = ['vm', 'container']

/** Versions of macOS, each with its other name. */
export const macosVersions: readonly string[] = ['15', 'sequoia', '26', 'tahoe']

/** An image, spelled as it is stored and sent. */
export interface ImageDict {
  readonly os_type: OsType
  readonly distro: string
  readonly version: string
  readonly kind: ImageKind | null
  readonly layers: readonly Layer[]
  /** All variables, each with its last value. */
  readonly env?: Readonly<Record<string, string>>
  readonly ports?: readonly number[]
  readonly files?: ReadonlyArray<readonly [src: string, dst: string]>
  readonly registry?: string
  readonly disk_path?: string
  readonly agent_type?: string
  /** `env` and `files` again, each with the number of layers before it; absent where all come before the first layer. */
  readonly steps?: readonly PlacedStep[]
}

/** What `env` or `copy` was called with, after so many layers. */
export type PlacedStep = Exclude<BuildStep, Layer> & { readonly after: number }

/** A TCP port. */
export const aPort: FieldKind = {
  must: 'a port from 1 to 65535',
  fits: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535,
}
const pair: FieldKind = {
  must: 'a pair [src, dst] of paths',
  fits: (value) => Array.isArray(value) && value.length === 2 && value.every((each) => aText.fits(each)),
}
const list: FieldKind = { must: 'a list', fits: Array.isArray }
const record: FieldKind = { must: 'an object of variables', fits: isRecord }

/** The fields of a dictionary. Those that clients always write, but for the first three, count as empty where absent. */
const fields: Readonly<Record<keyof ImageDict, FieldKind>> = {
  os_type: oneOf(osTypes),
  distro: aText,
  version: aText,
  kind: { ...oneOf([...imageKinds, null]), optional: true },
  layers: { ...list, optional: true },
  env: { ...record, optional: true },
  ports: { ...listOf(aPort), optional: true },
  files: { ...listOf(pair), optional: true },
  registry: { ...aText, optional: true },
  disk_path: { ...aText, optional: true },
  agent_type: { ...aText, optional: true },
  steps: { ...list, optional: true },
}

/** The dictionary that a value is, in its shortest form; throws `invalid_argument` or `layer_not_for_os` naming the field. */
export const checkedDict = (value: unknown): ImageDict => {
  if (!isRecord(value)) throw wrong(`an image must be an object, not ${quotedValue(value)}`)
  const fault = fieldsFault(value, fields)
  if (fault !== undefined) throw wrong(fault)
  const data = value as unknown as ImageDict
  const osType = data.os_type
  if (data.distro === 'macos') checkMacosVersion(data.version)
  const layers = (data.layers ?? []).map((each, index) => checkedLayer(each, `layers[${index}]`, osType))
  const placed = (data.steps ?? unplaced(data)).map((each, index): PlacedStep => {
    const { after, ...step } = isRecord(each) ? (each as unknown as PlacedStep) : { after: undefined }
    if (!Number.isInteger(after) || Number(after) < 0 || Number(after) > layers.length)
      throw wrong(`"steps[${index}].after" must be a number of layers, not ${quotedValue(after)}`)
    const where = data.steps === undefined ? '' : `steps[${index}].`
    const checked = checkedStep(step, where, osType)
    if (isLayer(checked)) throw wrong(`"steps[${index}].type" must be "env" or "copy", not "${checked.type}"`)
    return { ...checked, after: Number(after) }
  })
  const dict = dictOf({ ...data, layers }, placed)
  if (data.steps !== undefined) checkSame(data, dict)
  return dict
}

/** The dictionary of fields and of what `env` and `copy` were called with, in order. */
export const dictOf = (
  { os_type, distro, version, kind, layers, ports, registry, disk_path, agent_type }: Omit<ImageDict, 'steps'>,
  placed: readonly PlacedStep[],
): ImageDict => {
  // Not by assignment, to which some names mean something else.
  const env: ImageDict['env'] = Object.fromEntries(
    placed.flatMap((each) => (each.type === 'env' ? Object.entries(each.variables) : [])),
  )
  const files = placed.flatMap((each) => (each.type === 'copy' ? [[each.src, each.dst] as const] : []))
  return {
    ...{ os_type, distro, version, kind: kind ?? null, layers },
    ...(Object.keys(env).length > 0 && { env }),
    ...(ports !== undefined && ports.length > 0 && { ports }),
    ...(files.length > 0 && { files }),
    ...(registry !== undefined && { registry }),
    ...(disk_path !== undefined && { disk_path }),
    ...(agent_type !== undefined && { agent_type }),
    ...(placed.some(({ after }) => after > 0) && { steps: placed }),
  }
}

/** What `env` and `copy` were called with, as far as the dictionary tells. */
export const placedSteps = (dict: ImageDict): readonly PlacedStep[] => dict.steps ?? unplaced(dict)

/** All steps of a build in their order. */
export const stepsOf = (dict: ImageDict): BuildStep[] => {
  const placed = placedSteps(dict)
  const at = (after: number): BuildStep[] =>
    placed.flatMap(({ after: before, ...step }) => (before === after ? [step as BuildStep] : []))
  return [...dict.layers.flatMap((layer, index) => [...at(index), layer]), ...at(dict.layers.length)]
}

/** Throws with the text that programs match where there is no such version of macOS. */
export const checkMacosVersion = (version: string): void => {
  if (macosVersions.includes(version)) return
  const supported = macosVersions.map((each) => `"${each}"`).join(', ')
  throw new InvalidArgumentError(
    'invalid_argument',
    `Unsupported macOS version '${version}'. Supported: ${supported}`,
    { data: { version } },
  )
}

const checkedLayer = (value: unknown, name: string, osType: OsType): Layer => {
  const step = checkedStep(value, `${name}.`, osType)
  if (!isLayer(step)) throw wrong(`"${name}.type" cannot be "${step.type}"; it stands in "steps"`)
  fitsOs(step.type, osType)
  return step
}

/** Where a dictionary does not say it, variables and files come before the first layer. */
const unplaced = ({ env = {}, files = [] }: ImageDict): PlacedStep[] => [
  ...(Object.keys(env).length > 0 ? [{ type: 'env' as const, variables: env, after: 0 }] : []),
  ...files.map(([src, dst]) => ({ type: 'copy' as const, src, dst, after: 0 })),
]

const checkSame = (given: ImageDict, made: ImageDict): void => {
  const sorted = (env: ImageDict['env']) => JSON.stringify(Object.entries(env ?? {}).sort())
  if (sorted(given.env) !== sorted(made.env)) throw wrong('"env" does not hold what the "env" in "steps" come to')
  if (JSON.stringify(given.files ?? []) !== JSON.stringify(made.files ?? []))
    throw wrong('"files" does not hold what the "copy" in "steps" come to')
}

const wrong = (what: string): InvalidArgumentError =>
  new InvalidArgumentError('invalid_argument', `Image.fromDict: ${what}. Pass what \`toDict\` gave.`)

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
