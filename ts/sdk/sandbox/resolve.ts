/** Which sandboxes a call means: those of this machine, or of a cloud. */
import { cloud } from '@backlot/contract/limits'
import { configured } from '../configuration.ts'
import { InvalidArgumentError, UnsupportedError } from '../errors.ts'
import { isNode, node } from '../node.ts'
import { reasonAgainst } from '../runtimes/features.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { checkName } from './names/name.ts'
import type { SavedSandbox } from './options.ts'
import type { Provider } from './provider.ts'
import type { RuntimeChoice } from './where.ts'

/** What a caller may say. */
interface Said {
  readonly runtime?: RuntimeChoice | undefined
  readonly local?: boolean | undefined
  readonly apiKey?: string | undefined
  readonly region?: string | undefined
}

/** Whether `options` mean the cloud, a runtime, this machine, or nothing; throws `invalid_argument` for what excludes each other. */
const meaning = (options: Said): 'cloud' | 'machine' | Exclude<RuntimeChoice, 'cloud'> | undefined => {
  const { runtime, local, apiKey, region } = options
  const cloudOnly = [
    apiKey !== undefined && 'apiKey',
    region !== undefined && 'region',
    local === false && 'local: false',
  ]
  const [ofCloud] = cloudOnly.filter((each) => each !== false)
  const ofMachine = runtime !== undefined && runtime !== 'cloud' ? 'runtime' : local === true ? 'local' : undefined
  if (ofCloud !== undefined && ofMachine !== undefined) throw excluding(ofMachine, ofCloud)
  if (local === true && runtime === 'cloud') throw excluding('local', "runtime: 'cloud'")
  if (ofCloud !== undefined || runtime === 'cloud') return 'cloud'
  return runtime ?? (local === true ? 'machine' : undefined)
}

const excluding = (one: string, other: string): InvalidArgumentError =>
  new InvalidArgumentError(
    'invalid_argument',
    `"${one}" and "${other}" exclude each other: "apiKey" and "region" are for the cloud, "local" and other runtimes for this machine.`,
    { data: { arguments: [one, other] } },
  )

const inCloud = async ({ apiKey, region = cloud.region }: Said): Promise<Provider> => {
  const [{ cloudAccess }, { CloudSandboxes }] = await Promise.all([
    import('../cloud/access.ts'),
    import('./cloud/cloud-sandboxes.ts'),
  ])
  return new CloudSandboxes(await cloudAccess({ apiKey }), region)
}

/** What a runtime of this machine holds. */
export const machineOf = async (runtime: Runtime) => onMachine(runtime)

/**
 * The runtimes that a call about snapshots or pools means: the one that was chosen, else those of this machine that are there and
 * have the ability. Throws `unsupported` for the cloud, and where there is none.
 */
export const runtimesFor = async (options: Said, ability: 'snapshot' | 'pool'): Promise<[Runtime, ...Runtime[]]> => {
  const own = meaning(options) ?? configured().runtime
  const what = ability === 'pool' ? 'pools' : 'lists of snapshots'
  if (own === 'cloud')
    throw new UnsupportedError(`The cloud has no ${what} by its API; name a runtime of this machine.`)
  const { chosenRuntime, runtimesHere } = await import('../runtimes/known.ts')
  const { unavailable } = await import('../runtimes/absent.ts')
  if (own !== undefined && own !== 'machine') {
    const runtime = chosenRuntime(own)
    const check = await runtime.check()
    if (!check.available) throw unavailable(runtime.name, check)
    return [runtime]
  }
  const able: Runtime[] = []
  for (const runtime of runtimesHere()) {
    const check = await runtime.check()
    if (check.available && reasonAgainst(check.features[ability]) === undefined) able.push(runtime)
  }
  const [first, ...others] = able
  if (first !== undefined) return [first, ...others]
  throw new UnsupportedError(`No runtime of this machine that is there has ${what}; name one with "runtime".`)
}

const onMachine = async (choice?: Exclude<RuntimeChoice, 'cloud'>) => {
  const [{ Machine }, { chosenRuntime }] = await node('A sandbox of this machine', () =>
    Promise.all([import('./machine/machine.ts'), import('../runtimes/known.ts')]),
  )
  return new Machine(choice === undefined ? undefined : chosenRuntime(choice))
}

/** What the caller's options mean, or those of `configure`; undefined where both say nothing. */
const said = async (options: Said): Promise<Provider | undefined> => {
  const own = meaning(options)
  const chosen = own === undefined ? configured().runtime : own
  if (own === 'machine') {
    const usual = configured().runtime
    return onMachine(usual === 'cloud' ? undefined : usual)
  }
  if (chosen === undefined) return undefined
  return chosen === 'cloud' ? inCloud(options) : onMachine(chosen as Exclude<RuntimeChoice, 'cloud'>)
}

let wasSaid = false

/**
 * Where `create` and `list` go: unless said otherwise the cloud if there is a key, else this machine, which stderr is told once
 * where a cloud is named, for whoever names one may have meant it.
 */
export const providerFor = async (options: Said, source?: { readonly source?: unknown }): Promise<Provider> => {
  const provider = await said(options)
  if (provider !== undefined) return provider
  // A snapshot can start where it is, and nowhere else.
  const own = (source as Partial<SavedSandbox> | undefined)?.source
  if (typeof own === 'string') return own === 'cloud' ? inCloud(options) : onMachine()
  const { hasKey, isCloudNamed } = await import('../cloud/access.ts')
  if (await hasKey()) return inCloud(options)
  if (!wasSaid && (await isCloudNamed())) {
    wasSaid = true
    console.error(
      'backlot: a cloud is named and there is no key for it, so sandboxes are those of this machine. "local" or "runtime" says where they are.',
    )
  }
  return onMachine()
}

/** Where the sandbox of that name is: unless said otherwise here if a state file has the name, else in the cloud. */
export const providerOf = async (name: string, options: Said): Promise<Provider> => {
  checkName(name)
  const provider = await said(options)
  if (provider !== undefined) return provider
  if (isNode()) {
    const machine = await onMachine()
    if (await machine.knows(name)) return machine
  }
  const { hasKey } = await import('../cloud/access.ts')
  if (await hasKey()) return inCloud(options)
  const { notInCloud } = await import('./refusals.ts')
  throw notInCloud(name)
}
