/** The runtimes that this program knows: those of the table, and those that it was given. */
import type { Fields } from '../basics.ts'
import { invalidArgument } from '../errors.ts'
import { bounded } from './bounded.ts'
import type { Runtime } from './runtime.ts'
import { ofThisMachine, type RuntimeName, runtimes } from './table.ts'

/** The runtime of a sandbox, as it is stored; `settings` are absent in files of earlier versions. */
export interface StoredRuntime {
  readonly runtime: string
  readonly settings?: Fields | undefined
}

/** Those that were given, by key and settings; of two alike the later one. */
const given = new Map<string, Runtime>()

const names = Object.keys(runtimes) as RuntimeName[]

/**
 * The runtime that a caller chose by name or by itself; throws `invalid_argument` that names those there are. A name means the
 * runtime with its usual settings, whatever was given before.
 */
export const chosenRuntime = (choice: unknown): Runtime => {
  if (typeof choice === 'string' && Object.hasOwn(runtimes, choice)) return ofTable(choice as RuntimeName)
  if (!isRuntime(choice)) {
    const text = `There is no runtime ${JSON.stringify(choice) ?? String(choice)}; "runtime" is one of ${names.join(', ')}, cloud, or a \`Runtime\`.`
    throw invalidArgument('runtime', text, { known: [...names, 'cloud'] })
  }
  if (typeof choice.name !== 'string' || choice.name === '' || choice.name === 'cloud') {
    throw invalidArgument(
      'runtime',
      `A runtime cannot be named ${JSON.stringify(choice.name)}; give it a name of its own.`,
    )
  }
  const runtime = bounded(choice)
  given.set(identityOf(runtime.name, settingsOf(runtime)), runtime)
  return runtime
}

/** The runtime that holds what was stored: one that was given with those settings, or made of them; undefined where nobody knows it. */
export const runtimeOf = ({ runtime: key, settings }: StoredRuntime): Runtime | undefined => {
  // Records of earlier versions tell no settings.
  const found = settings === undefined ? lastGiven(key) : given.get(identityOf(key, settings))
  if (found !== undefined) return found
  if (Object.hasOwn(runtimes, key)) return ofTable(key as RuntimeName, settings)
  return settings === undefined || Object.keys(settings).length > 0 ? undefined : lastGiven(key)
}

/** The runtimes that may hold sandboxes of this machine. */
export const runtimesHere = (): Runtime[] => {
  const all = new Map(given)
  for (const runtime of ofThisMachine.map((name) => ofTable(name))) {
    const identity = identityOf(runtime.name, settingsOf(runtime))
    if (!all.has(identity)) all.set(identity, runtime)
  }
  return [...all.values()]
}

/** What is stored of a runtime's settings; throws `invalid_argument` for what is no object of JSON. */
export const settingsOf = (runtime: Runtime): Fields => {
  let text: string | undefined
  try {
    text = JSON.stringify(runtime.settings())
  } catch {
    // The next line tells about it.
  }
  if (text?.startsWith('{')) return JSON.parse(text)
  const why = `The settings of the runtime "${runtime.name}" cannot be stored: \`settings()\` gives an object that JSON can hold.`
  throw invalidArgument('runtime', why, { runtime: runtime.name })
}

/** One text for a runtime's key with its settings, in whatever order they stand. */
export const identityOf = (key: string, settings: Fields = {}): string => `${key} ${JSON.stringify(sorted(settings))}`

/** Whether a caller who chose `runtime` means what was stored; one without settings means all of its name. */
export const isMeant = (runtime: Runtime, record: StoredRuntime): boolean => {
  if (runtime.name !== record.runtime) return false
  const settings = settingsOf(runtime)
  if (record.settings === undefined || Object.keys(settings).length === 0) return true
  return identityOf(runtime.name, settings) === identityOf(record.runtime, record.settings)
}

/** The runtime to use for what was stored, where a caller chose one that means it. */
export const chosenFor = (chosen: Runtime, record: StoredRuntime): Runtime | undefined => {
  const { settings } = record
  const isItself =
    settings === undefined || identityOf(record.runtime, settings) === identityOf(chosen.name, settingsOf(chosen))
  return isItself ? chosen : runtimeOf(record)
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, each]) => [name, sorted(each)]))
}

const lastGiven = (key: string): Runtime | undefined => [...given.values()].findLast(({ name }) => name === key)

/** A runtime of the table; what is stored of it came from its own `settings`. */
const ofTable = (name: RuntimeName, settings?: Fields): Runtime =>
  bounded((runtimes[name] as (options?: Fields) => Runtime)(settings))

/** By its verbs, because another copy of this package may have made it. */
const isRuntime = (value: unknown): value is Runtime =>
  typeof value === 'object' &&
  value !== null &&
  ['start', 'stop', 'isReady', 'suspend', 'resume', 'list', 'check', 'transport'].every(
    (verb) => typeof (value as Record<string, unknown>)[verb] === 'function',
  )
