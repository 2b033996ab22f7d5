/** What a call carries through every step: its caller, its end, and the driver it acts through. */
import type { Agent } from '@backlot/native'
import type { Config } from './config/config.ts'
import type { Driver } from './driver.ts'
import type { Notes } from './notes.ts'
import type { ShortSecrets } from './secrets/short-secrets.ts'
import type { Session } from './session/sessions.ts'

/** Who calls, and until when. */
export interface CallContext {
  /** Id of the connection. */
  readonly client: string
  /** The connection whose end is the end of sessions that the call begins; absent where they outlive it. */
  readonly holder?: string
  /** The session that the call names; absent where it names none. */
  readonly session?: string
  /** Ends the call when it aborts, with its reason where that is a failure and with `cancelled` otherwise. */
  readonly signal: AbortSignal
}

/**
 * Whose pictures the coordinates of a call refer to, the first that has one: its session's, then its connection's own. What
 * another connection was given says nothing of what this caller sees.
 */
export const viewersOf = ({ owner, client }: Pick<Call, 'owner' | 'client'>): readonly string[] => [
  ...new Set([owner.key, client]),
]

/** What a tool's handler is given beside its arguments. */
export interface Call extends CallContext {
  readonly driver: Driver
  /** Whose agent, configuration and recording the call uses: the named session, else the connection's own. */
  readonly owner: Session
  /** Texts that the call types: secrets, where it turns out that they go into a password field. */
  readonly types?: readonly string[]
  /** Secrets that are masked in what comes of this call alone, the calls that it holds included. */
  readonly short: ShortSecrets
  /** What is found out while the tool runs. */
  readonly notes: Notes
  /** The configuration as it is for this call: what its session changed goes before what is stored. */
  config(): Promise<Config>
  /**
   * Runs one gesture of the caller's own pointer and keyboard, after its earlier ones; aborting the call halts it with
   * everything released. A gesture inside a gesture would wait for itself.
   */
  gesture<T>(work: (agent: Agent) => Promise<T>): Promise<T>
}
