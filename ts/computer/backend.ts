/** What carries out the commands of a computer server: a desktop, or an Android device. */
import type { CommandName, CommandParams, CommandResult } from '@backlot/contract/computer'
import type { Feature } from '@backlot/contract/computer/command'

/** One call of a command. */
export interface Call {
  /** Aborts when the caller goes away or the person takes over. */
  readonly signal: AbortSignal
  /** Takes what a command has to say before it ends, where the caller asked for that. */
  readonly progress?: Report
}

/** What a command that still runs has to say: the process that it is, or a piece of its output. */
export type Progress = { readonly pid: number } | { readonly stream: 'stdout' | 'stderr'; readonly text: string }

/** Takes it; what it gives back is waited for before more is read. */
export type Report = (event: Progress) => Promise<void> | void

/** Carries out one command; the parameters are checked. */
export type Handler<Name extends CommandName> = (
  params: CommandParams<Name>,
  call: Call,
) => Promise<CommandResult<Name>>

/** The commands that a backend has, by name. */
export type Handlers = { readonly [Name in CommandName]?: Handler<Name> }

/** A computer to act on; disposing of it releases what is held down and ends what it started. */
export interface Backend extends AsyncDisposable {
  readonly osType: 'linux' | 'android'
  readonly handlers: Handlers
  /** Lets go of the keys and buttons that commands hold down. */
  releaseHeld(): Promise<void>
  /** What works now, each tried; for what does not, why. Those that it does not name are of no concern to it. */
  probe(): Promise<Readonly<Partial<Record<Feature, true | string>>>>
}
