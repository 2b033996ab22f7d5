/** What a command of the computer server is: a declaration off which routes, checks, docs and typed clients are read. */
import type { Static, TObject } from '@sinclair/typebox'

/** What a computer server may be able to do; `GET /status` names those that work there. */
export const features = [
  'display',
  'input',
  'accessibility',
  'clipboard',
  'windows',
  'shell',
  'files',
  'pty',
  'mcp',
  'view',
  'film',
  'touch',
] as const

export type Feature = (typeof features)[number]

/** A command, keyed by its name elsewhere. Parameters that are `null` count as absent, unknown ones are ignored. */
export interface Command {
  /** One line, shown in lists. */
  readonly summary: string
  readonly params: TObject
  /** The fields of a success, beside `success: true`. */
  readonly result: TObject
  /** Other names that clients use. */
  readonly aliases?: readonly string[]
  /** What must work for it, or it is refused with `not_available`. */
  readonly needs: Feature
  /** Acts on the desktop as the person could: refused while the person has taken over. */
  readonly acts?: true
  /** Where it exists; everywhere when absent. */
  readonly only?: 'desktop' | 'android'
  /** The field that an answer to the flat form gives as `result`; all fields when absent. */
  readonly flat?: string
}

/** Commands by name. */
export type Commands = Readonly<Record<string, Command>>

/** Gives a declaration its types. */
export const command = <const Declared extends Command>(declared: Declared): Declared => declared

/** What a caller gives. */
export type Params<Declared extends Command> = Static<Declared['params']>

/** What success gives back. */
export type Result<Declared extends Command> = Static<Declared['result']>
