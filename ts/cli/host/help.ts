/** The help of one command of a group: each argument and option with what it means, its unit and what holds without it. */
import { type Endpoint, inputFields } from '@backlot/contract/endpoint'
import type { TSchema } from '@sinclair/typebox'
import { formOf, noteOf, optional, optionName, optionWithValue } from './declared.ts'

/** An option of a command that is no single operation. */
export interface ExtraOption {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** Whether it may be given several times; `run` gets a list then. */
  readonly isMany?: true
  /** What stands after it: `SECONDS`. */
  readonly value?: string
  readonly description: string
  /** In words, what holds without it. */
  readonly absent?: string
}

interface Entry {
  readonly name: string
  readonly text: string
}

/** The help of an operation, with `common` options at its end. */
export const operationHelp = (declared: Endpoint, common: string): string =>
  inOptions(
    declared,
    text(
      declared.summary,
      formOf(declared),
      declared.description,
      [...positionals(declared), ...options(declared)],
      common,
    ),
  )

/** The text with fields called as the command line calls them. */
const inOptions = (declared: Endpoint, text: string): string =>
  optional(declared).reduce((named, { name }) => named.replaceAll(`\`${name}\``, `\`--${optionName(name)}\``), text)

/** The help of a command that is no single operation. */
export const extraHelp = (
  extra: { readonly summary: string; readonly options: Readonly<Record<string, ExtraOption>> },
  form: string,
  common: string,
): string => {
  const entries = Object.entries(extra.options).map(([name, { short, value, description, absent }]) => ({
    name: `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    text: sentences(description, absent === undefined ? undefined : `Without it: ${absent}`),
  }))
  return text(extra.summary, form, undefined, entries, common)
}

const positionals = (declared: Endpoint): Entry[] =>
  declared.command.positional.map((name) => ({
    name: optionName(name).toUpperCase(),
    text: inputFields(declared).find((field) => field.name === name)?.schema.description ?? '',
  }))

const options = (declared: Endpoint): Entry[] =>
  optional(declared).map(({ name, schema }) => ({
    name: optionWithValue(name, schema),
    text: sentences(schema.description ?? '', noteOf(name), range(schema), without(declared, name, schema)),
  }))

const range = ({ minimum, maximum }: TSchema): string | undefined =>
  minimum === undefined || maximum === undefined ? undefined : `From ${minimum} to ${maximum}`

/** What holds without the option. */
const without = ({ command }: Endpoint, name: string, schema: TSchema): string | undefined => {
  const usual = command.defaults?.[name] ?? schema.default
  // A flag that stands alone is not given to say no.
  if (usual === false) return undefined
  if (usual !== undefined) return `Default: \`${usual}\``
  const absent = command.absent?.[name]
  return absent === undefined ? undefined : `Without it: ${absent}`
}

const sentences = (...parts: readonly (string | undefined)[]): string =>
  parts.flatMap((part) => (part ? [/[.!]$/.test(part) ? part : `${part}.`] : [])).join(' ')

const text = (
  summary: string,
  form: string,
  description: string | undefined,
  entries: readonly Entry[],
  common: string,
): string => {
  const width = 100
  const options = entries.map(({ name, text }) => `  ${name}\n${wrap(text, width, '      ')}`).join('\n')
  const blocks = [summary, wrap(form, width, '', '    '), description && wrap(description, width, ''), options, common]
  return blocks.filter(Boolean).join('\n\n')
}

/** The text in lines of so many characters at most, where words allow it. */
const wrap = (text: string, width: number, first: string, rest = first): string => {
  const lines: string[] = []
  let line = first
  let isEmpty = true
  // What stands in brackets stays together.
  for (const word of text.match(/\[[^\]]*\]…?|\S+/g) ?? []) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line)
      line = rest
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line].join('\n')
}
