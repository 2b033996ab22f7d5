/** The agents of a desktop: each session has a pointer and a keyboard of its own, made at its first gesture. */

import { addAbortListener } from 'node:events'
import { Queue } from '@backlot/contract/queue'
import { type Shared, shared } from '@backlot/contract/shared'
import { settleAll } from '@backlot/contract/work/settle-all'
import type { Agent } from '@backlot/native'
import { reasonOf } from '../ending.ts'

interface AgentOfSession {
  readonly agent: Shared<Agent>
  readonly gestures: Queue
}

/** One agent for each session, and one gesture of it at a time. */
export class Agents {
  readonly #agents = new Map<string, AgentOfSession>()

  constructor(private readonly open: () => Promise<Agent>) {}

  /**
   * Runs a gesture with the agent of the session of that key once its earlier ones have ended. When the call is
   * aborted, the agent lets go of what it holds and the gesture fails; one that has not begun fails with the reason.
   * Not to be nested.
   */
  async gesture<T>(session: string, signal: AbortSignal, work: (agent: Agent) => Promise<T>): Promise<T> {
    const { agent, gestures } = this.#agentOf(session, signal)
    return gestures.run(async () => {
      refuseAborted(signal)
      const opened = await agent.get()
      refuseAborted(signal)
      using _cancelling = addAbortListener(signal, () => opened.cancel())
      return await work(opened)
    })
  }

  /** Removes the agent of a session that is over; its calls must have been aborted before. */
  async release(session: string): Promise<void> {
    const entry = this.#agents.get(session)
    this.#agents.delete(session)
    await entry?.agent.close()
  }

  /** Removes all agents; each is made again when it is needed. */
  async close(): Promise<void> {
    await settleAll([...this.#agents.values()].map(async ({ agent }) => agent.close()))
  }

  #agentOf(session: string, signal: AbortSignal): AgentOfSession {
    refuseAborted(signal)
    const known = this.#agents.get(session)
    if (known !== undefined) return known
    const entry: AgentOfSession = { agent: shared(this.open), gestures: new Queue() }
    this.#agents.set(session, entry)
    return entry
  }
}

const refuseAborted = (signal: AbortSignal): void => {
  if (signal.aborted) throw reasonOf(signal)
}
