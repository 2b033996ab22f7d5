/** What `backlot local start` was asked for. */
import { resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { privateDesktop } from '@backlot/contract/limits'
import {
  type FilesSource,
  filesOf,
  findLayers,
  findSnapshot,
  type LevelName,
  layersFolder,
  levelNames,
  type Mount,
  type Network,
  type NewSandbox,
  snapshotsFolder,
} from '@backlot/local'
import { readFlags } from '../flags.ts'
import { screenSize } from '../screen-size.ts'
import { nameOfLayers } from './layers-name.ts'

const options = {
  name: { type: 'string' },
  ephemeral: { type: 'boolean' },
  isolation: { type: 'string' },
  network: { type: 'string' },
  mount: { type: 'string', multiple: true },
  cpu: { type: 'string' },
  'memory-mb': { type: 'string' },
  'disk-gb': { type: 'string' },
  size: { type: 'string' },
  label: { type: 'string', multiple: true },
  'ttl-ms': { type: 'string' },
  'timeout-ms': { type: 'string' },
  distro: { type: 'string' },
  'env-from-input': { type: 'boolean' },
  strict: { type: 'boolean' },
  'unsafe-no-isolation': { type: 'boolean' },
  snapshot: { type: 'string' },
  layers: { type: 'string' },
} as const

/** Reads the flags; throws `usage`, `invalid_argument` or `unsupported`. */
export const readNewSandbox = async (args: readonly string[]): Promise<{ wanted: NewSandbox; timeoutMs: number }> => {
  const { values } = readFlags('local start', { args: [...args], options })
  const { width, height } = screenSize(values.size)
  if (values['env-from-input'] && values.ephemeral) {
    refuse('env-from-input', 'is not for --ephemeral, which ends with standard input.')
  }
  const store = snapshotsFolder()
  const snapshot = values.snapshot === undefined ? null : await findSnapshot(store, values.snapshot)
  const source = values.layers === undefined ? null : await filesOfLayers(values.layers)
  return {
    wanted: {
      name: values.name,
      ephemeral: values.ephemeral ?? false,
      isolation: isolationOf(values.isolation),
      network: networkOf(values.network),
      mounts: (values.mount ?? []).map(mountOf),
      cpu: numberOf('cpu', values.cpu, { least: 0.01, most: 1024 }),
      memoryMb: numberOf('memory-mb', values['memory-mb'], { least: 64, most: 2 ** 24 }),
      diskGb: numberOf('disk-gb', values['disk-gb'], { least: 0.05, most: 2 ** 14 }),
      size: `${width}x${height}`,
      labels: Object.fromEntries((values.label ?? []).map(labelOf)),
      env: { ...snapshot?.of.env, ...(values['env-from-input'] ? variablesIn(await Bun.stdin.text()) : {}) },
      source: source ?? (snapshot === null ? null : filesOf(store, snapshot)),
      wantedDistro: values.distro ?? null,
      isStrict: values.strict ?? false,
      isUnisolated: values['unsafe-no-isolation'] ?? false,
      ttlMs: numberOf('ttl-ms', values['ttl-ms'], { least: 1, most: Number.MAX_SAFE_INTEGER / 2 }),
    },
    timeoutMs:
      numberOf('timeout-ms', values['timeout-ms'], { least: 1, most: 2 ** 31 - 1 }) ?? privateDesktop.startTimeoutMs,
  }
}

/** What is kept of layers with that hash; throws `snapshot_not_found`. */
const filesOfLayers = async (hash: string): Promise<FilesSource> => {
  const [store, name] = [layersFolder(), nameOfLayers(hash)]
  const found = name === null ? null : await findLayers(store, name)
  if (found !== null) return filesOf(store, found)
  throw new Failure('snapshot_not_found', 'What these layers made is not kept any more; build them again.', {
    layers: hash,
  })
}

const refuse = (argument: string, text: string): never => {
  throw new Failure('invalid_argument', `--${argument} ${text}`, { argument })
}

/** A number that a flag takes; null where it is absent. */
export const numberOf = (
  argument: string,
  text: string | undefined,
  { least, most }: { least: number; most: number },
) => {
  if (text === undefined) return null
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  return number >= least && number <= most ? number : refuse(argument, `is "${text}"; it takes a number from ${least}.`)
}

const isolationOf = (text: string | undefined): LevelName => {
  const known = levelNames.find((name) => name === text)
  if (text === undefined) return 'host-programs'
  return known ?? refuse('isolation', `is "${text}"; it takes one of ${levelNames.join(', ')}.`)
}

const networks = ['none', 'loopback', 'internet'] as const

const networkOf = (text: string | undefined): Network => {
  if (text?.startsWith('allow=')) {
    throw new Failure(
      'unsupported',
      'A network with a list of what is allowed is not to be had from the runtime "local", whose sandboxes reach all of the internet or nothing; take --network internet, loopback or none, or another runtime.',
      { argument: 'network' },
    )
  }
  const known = networks.find((name) => name === text)
  if (text === undefined) return 'internet'
  return known ?? refuse('network', `is "${text}"; it takes one of ${networks.join(', ')}.`)
}

const mountOf = (text: string): Mount => {
  if (!text.startsWith('{')) {
    const [host = '', path = '', mode, ...more] = text.split(':')
    if (path === '' || more.length > 0 || (mode !== undefined && mode !== 'ro')) {
      refuse('mount', `is "${text}"; it takes HOST:PATH, HOST:PATH:ro or JSON.`)
    }
    return { host_path: resolve(host), path, read_only: mode === 'ro' }
  }
  let value: Partial<Mount>
  try {
    value = JSON.parse(text) as Partial<Mount>
  } catch {
    return refuse('mount', `is "${text}", which is no JSON.`)
  }
  const { host_path, path, read_only = false } = value
  if (typeof host_path !== 'string' || typeof path !== 'string' || typeof read_only !== 'boolean') {
    return refuse('mount', `is "${text}"; it takes {"host_path":…,"path":…,"read_only":…}.`)
  }
  return { host_path, path, read_only }
}

/** Names that lead a program elsewhere than to what the sandbox has are the sandbox's own. */
const variablesIn = (text: string): Record<string, string> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse('env-from-input', 'is for a JSON object on standard input, and what came is no JSON.')
  }
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const wrong = entries.find(
    ([name, each]) => !/^[^=\0]+$/.test(name) || typeof each !== 'string' || each.includes('\0'),
  )
  if (wrong !== undefined) refuse('env-from-input', `names "${wrong[0]}", which is no variable with a text.`)
  return Object.fromEntries(entries) as Record<string, string>
}

/** The pair of a label. */
export const labelOf = (text: string): [string, string] => {
  const at = text.indexOf('=')
  return at > 0 ? [text.slice(0, at), text.slice(at + 1)] : refuse('label', `is "${text}"; it takes KEY=VALUE.`)
}
