/** Commands read off the declarations of operations: their forms, and the input that arguments mean. */
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { type Endpoint, inputFields } from '@backlot/contract/endpoint'
import { Failure } from '@backlot/contract/failure'
import { fieldFault, fromText } from '@backlot/contract/fields/field'
import { vmHost } from '@backlot/contract/vmhost'
import type { TSchema } from '@sinclair/typebox'

/** Name of an operation. */
export type OperationName = keyof typeof vmHost

/** A group of commands: `backlot vm`, `backlot host`. */
export type Group = Endpoint['command']['group']

/** The operations of a group, by name. */
export const operationsOf = (group: Group): [OperationName, Endpoint][] =>
  (Object.entries(vmHost) as [OperationName, Endpoint][]).filter(([, { command }]) => command.group === group)

/** How a field is said on the command line where its schema does not tell. */
interface Spoken {
  readonly flag?: string
  /** What stands after the flag in the form; absent for a flag that stands alone. */
  readonly value?: string
  readonly isMany?: true
  /** What its value may be that the schema does not tell. */
  readonly note?: string
  /** What the texts mean; as the schema says where it is absent. */
  readonly read?: (texts: readonly string[]) => unknown
}

const absolute = (path: string): string => resolve(path.replace(/^~(?=\/|$)/, homedir()))

/** A file of this machine by its absolute path; anything else as it is. */
const fileOr = ([text = '']: readonly string[]): string =>
  existsSync(absolute(text)) && /[/.]/.test(text) ? absolute(text) : text

/** A storage as the service is told it: a location by its name, a folder by its absolute path. */
export const placeNamed = (text: string): string => (/^~|\//.test(text) ? absolute(text) : text)

const place: Spoken = { value: 'LOCATION|PATH', read: ([text = '']) => placeNamed(text) }

const spoken: Readonly<Record<string, Spoken>> = {
  storage: place,
  sourceLocation: place,
  destLocation: place,
  noDisplay: { read: () => true },
  recoveryMode: { read: () => true },
  discardMemory: { read: () => true },
  template: { read: () => true },
  sharedDirectories: {
    flag: 'share',
    value: 'PATH[:ro]',
    isMany: true,
    note: 'With `:ro` the guest may only read. The option may be given several times.',
    read: (texts) =>
      texts.map((text) => ({ hostPath: absolute(text.replace(/:(ro|rw)$/, '')), readOnly: text.endsWith(':ro') })),
  },
  userData: {
    value: 'TEXT|@FILE',
    note: '`@FILE`: what the file holds.',
    read: ([text = '']) => (text.startsWith('@') ? readText(text.slice(1)) : text),
  },
  image: { value: 'NAME|PATH|URL|none', note: '`none`: an empty disk.', read: fileOr },
  iso: { value: 'PATH', read: fileOr },
  ipsw: { value: 'PATH|latest' },
  tags: {
    flag: 'tag',
    value: 'TAG',
    isMany: true,
    note: 'The option may be given several times.',
    read: (texts) => [...texts],
  },
  ipswCatalog: { value: 'URL' },
  memory: { value: 'SIZE' },
  diskSize: { value: 'SIZE' },
  display: { value: 'WIDTHxHEIGHT' },
  graceSeconds: { value: 'SECONDS' },
  timeoutSeconds: { value: 'SECONDS' },
  homeDirectory: { value: 'PATH' },
  cacheDirectory: { value: 'PATH' },
}

const readText = (path: string): string => {
  try {
    return readFileSync(absolute(path), 'utf8')
  } catch (error) {
    throw new Failure('invalid_argument', `The file "${path}" cannot be read: ${(error as Error).message}.`, { path })
  }
}

/** Name of the option of a field: `disk-size`. */
export const optionName = (field: string): string =>
  spoken[field]?.flag ?? field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The fields that are given as options. */
export const optional = (declared: Endpoint) =>
  inputFields(declared).filter(({ name }) => !declared.command.positional.includes(name))

/** What `node:util` is to parse for an operation. */
export const optionsOf = (declared: Endpoint) =>
  Object.fromEntries(
    optional(declared).map(({ name }) => {
      const said = spoken[name]
      const isBare = said !== undefined && said.value === undefined
      return [
        optionName(name),
        { type: isBare ? 'boolean' : 'string', ...(said?.isMany && { multiple: true }) } as const,
      ]
    }),
  )

const valueForm = ({ type, enum: values }: TSchema): string => {
  if (Array.isArray(values)) return values.join('|')
  return type === 'boolean' ? 'true|false' : type === 'integer' ? 'N' : 'TEXT'
}

/** An option with its value: `--disk-size SIZE`. */
export const optionWithValue = (name: string, schema: TSchema): string => {
  const said = spoken[name]
  const value = said === undefined ? valueForm(schema) : said.value
  return `--${optionName(name)}${value === undefined ? '' : ` ${value}`}`
}

/** What the value of an option may be that its schema does not tell. */
export const noteOf = (name: string): string | undefined => spoken[name]?.note

const optionForm = (name: string, schema: TSchema): string =>
  `[${optionWithValue(name, schema)}]${spoken[name]?.isMany ? '…' : ''}`

/** `backlot vm clone NAME NEW-NAME [--dest-location TEXT]`. */
export const formOf = (declared: Endpoint): string => {
  const { command } = declared
  const words = command.words.map((word, index) =>
    command.usual && index === command.words.length - 1 ? `[${word}]` : word,
  )
  const positional = command.positional.map((name) => optionName(name).toUpperCase())
  const options = optional(declared).map(({ name, schema }) => optionForm(name, schema))
  return [`backlot ${command.group}`, ...words, ...positional, ...options].join(' ')
}

/** The operation that the longest row of words names, and what stands after them; undefined where none does. */
export const findOperation = (
  group: Group,
  args: readonly string[],
): { name: OperationName; declared: Endpoint; rest: string[] } | undefined => {
  const operations = operationsOf(group)
  const startsWith = (words: readonly string[]) => words.every((word, index) => args[index] === word)
  const exact = operations.find(([, { command }]) => startsWith(command.words))
  if (exact !== undefined)
    return { name: exact[0], declared: exact[1], rest: args.slice(exact[1].command.words.length) }
  const usual = operations.find(([, { command }]) => {
    const words = command.words.slice(0, -1)
    const next = args[words.length]
    return command.usual && startsWith(words) && (next === undefined || next.startsWith('-'))
  })
  if (usual === undefined) return undefined
  return { name: usual[0], declared: usual[1], rest: args.slice(usual[1].command.words.length - 1) }
}

type Parsed = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>

/** The input that positional arguments and options mean, and what the declaration fills in. */
export const readInput = (
  declared: Endpoint,
  positionals: readonly string[],
  values: Parsed,
): Record<string, unknown> => {
  const { positional, defaults } = declared.command
  if (positionals.length !== positional.length) throw new Failure('usage', `Call it as \`${formOf(declared)}\`.`)
  const input: Record<string, unknown> = {}
  for (const { name, schema } of inputFields(declared)) {
    const given = positional.includes(name) ? positionals[positional.indexOf(name)] : values[optionName(name)]
    const value =
      given === undefined || given === false
        ? defaults?.[name]
        : (spoken[name]?.read?.([given].flat().map(String)) ?? fromText(schema, String(given)))
    if (value === undefined) continue
    const fault = fieldFault(name, schema, value)
    if (fault !== undefined) throw new Failure('invalid_argument', fault, { argument: name })
    input[name] = value
  }
  return input
}
