/** What the verbs of `backlot sandbox` are, and what they are called with. */
import { Failure } from '@backlot/contract/failure'
import type { LookupOptions } from '@backlot/sdk'

/** The flags of all verbs, as node's parser gives them. */
export interface Flags {
  readonly local?: boolean
  readonly runtime?: string
  readonly follow?: boolean
  readonly json?: boolean
  readonly 'no-open'?: boolean
  readonly distro?: string
  readonly image?: string
  readonly disk?: string
  readonly os?: string
  readonly network?: string
  readonly mount?: readonly string[]
  readonly cpu?: string
  readonly 'memory-mb'?: string
  readonly 'disk-gb'?: string
  readonly label?: readonly string[]
  readonly 'ttl-ms'?: string
  readonly strict?: boolean
  readonly size?: string
}

/** One call. */
export interface Call {
  /** Empty where a verb that makes up a name got none. */
  readonly name: string
  /** What stands after the name. */
  readonly file: string | undefined
  /** What stands after `--`; undefined without one. */
  readonly command: readonly string[] | undefined
  readonly where: LookupOptions
  /** Whether data is wanted as JSON. */
  readonly json: boolean
  readonly flags: Flags
}

/** A verb. */
export interface Verb {
  /** How many words it takes: its name, and a file. */
  readonly words: readonly [least: number, most: number]
  /** The flags that it takes besides those that say where. */
  readonly flags?: readonly (keyof Flags)[]
  /** Whether a command may follow after `--`. */
  readonly takesCommand?: boolean
  /** Does it; a number is the exit status. */
  run(call: Call): Promise<unknown>
}

/** Ends a wait at a signal that asks this program to end; `interrupt` gets each. */
export const onInterrupt = (interrupt: (signal: NodeJS.Signals) => void): Disposable => {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, interrupt)
  return {
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, interrupt)
    },
  }
}

/** A flag's number. Throws `invalid_argument`. */
export const numberOf = (flag: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value > 0) return value
  throw new Failure('invalid_argument', `--${flag} is "${text}"; it takes a number above 0.`, { argument: flag })
}
