/** What an HTTP operation is: a declaration off which routes, checks, document, client and command are read. */
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { FailureCode } from './failure.ts'

/** An operation, under a prefix that stands elsewhere. A field name means the same thing in path, query and body. */
export interface HttpOperation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below the prefix, with its parameters in braces: `/config/locations/{name}`. */
  readonly path: string
  /** One line, shown in lists. */
  readonly summary: string
  /** What the summary leaves open, in Markdown. */
  readonly description: string
  /** The parameters in the path: strings. */
  readonly params?: TObject
  readonly query?: TObject
  /** The JSON body; where it stands, the body may not be left out unless `leniently` says so. */
  readonly body?: TObject
  /** A body that is absent, empty or no JSON object counts as `{}`: clients of this operation send such. */
  readonly leniently?: true
  /** Other spellings of the body's fields, at any depth, that clients use: `{ new_name: 'newName' }`. */
  readonly spellings?: Readonly<Record<string, string>>
  /** Another way to call it. */
  readonly alias?: { readonly method: 'GET' | 'POST'; readonly path: string }
  /** Not in the specification: its failures answer with the status of their kind, not with 400. */
  readonly ours?: true
  /** What one of ours refuses with, as far as its status is not 400. */
  readonly refusals?: readonly FailureCode[]
  readonly success: { readonly status: 200 | 202; readonly description: string; readonly result: TSchema }
  /** What status 400 means. */
  readonly refusal: string
  /** The command that does the same. */
  readonly command?: {
    /** The command that the words stand below: `backlot vm …`, `backlot host …`. */
    readonly group: 'vm' | 'host'
    /** The words that name it: `['config', 'locations', 'add']`. */
    readonly words: readonly string[]
    /** The last word may be left out. */
    readonly usual?: true
    /** Fields that are given by position; the others are options. */
    readonly positional: readonly string[]
    /** What the command sends for fields that are required and were not given. */
    readonly defaults?: Readonly<Record<string, unknown>>
    /** In words, what holds where an option is left out that has no default. */
    readonly absent?: Readonly<Record<string, string>>
  }
}

/** An operation that a command does too, as all of the VM host's. */
export type Endpoint = HttpOperation & Required<Pick<HttpOperation, 'command'>>

/** Keyword of a string's schema: a colon in the value counts as this. */
export type ColonIs = { readonly colonIs?: string }

/** Operations by name, with or without a command. */
export type HttpOperations = Readonly<Record<string, HttpOperation>>

/** Operations by name that commands do too. */
export type Endpoints = Readonly<Record<string, Endpoint>>

/** Gives a declaration its types. */
export const endpoint = <const Declared extends HttpOperation>(declared: Declared): Declared => declared

type Fields<Schema> = Schema extends TSchema ? Static<Schema> : unknown
type Flat<Type> = { [Key in keyof Type]: Type[Key] }

/** Everything that a caller gives: the fields of path, query and body side by side. */
export type Input<Declared extends HttpOperation> = Flat<
  {} & Fields<Declared['params']> & Fields<Declared['query']> & Fields<Declared['body']>
>

/** What success gives back. */
export type Result<Declared extends HttpOperation> = Static<Declared['success']['result']>

/** The input that takes each field, with the schema of that field. */
export const inputFields = (
  declared: HttpOperation,
): { name: string; from: 'params' | 'query' | 'body'; schema: TSchema; required: boolean }[] =>
  (['params', 'query', 'body'] as const).flatMap((from) => {
    const schema = declared[from]
    const required: readonly string[] = schema?.required ?? []
    return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
      name,
      from,
      schema: field,
      required: required.includes(name),
    }))
  })
