/** The agents of a desktop: each session has a pointer and a keyboard of its own, made at its first gesture. */

import { type Shared, shared } from '@backlot/contract/shared'
import type { Agent } from '@backlot/native'
import { allDone } from '../all-done.ts'
import { reasonOf } from '../ending.ts'

interface Seat {
  readonly agent: Shared<Agent>
  /** Settled when the gesture asked for last has ended. */
  last: Promise<unknown>
}

/** One agent for each session, and one gesture of it at a time. */
export class Agents {
  readonly #seats = new Map<string, Seat>()

  constructor(private readonly open: () => Promise<Agent>) {}

  /**
   * Runs a gesture with the agent of the session of that key once its earlier ones have ended. When the call is
   * aborted, the agent lets go of what it holds and the gesture fails; one that has not begun fails with the reason.
   * Not to be nested.
   */
  gesture<T>(session: string, signal: AbortSignal, work: (agent: Agent) => Promise<T>): Promise<T> {
    const seat = this.#seatOf(session, signal)
    const turn = seat.last.then(async () => {
      refuseAborted(signal)
      const agent = await seat.agent.get()
      refuseAborted(signal)
      const stop = () => agent.cancel()
      signal.addEventListener('abort', stop, { once: true })
      try {
        return await work(agent)
      } finally {
        signal.removeEventListener('abort', stop)
      }
    })
    seat.last = turn.catch(() => undefined)
    return turn
  }

  /** Removes the agent of a session that is over; its calls must have been aborted before. */
  async release(session: string): Promise<void> {
    const seat = this.#seats.get(session)
    this.#seats.delete(session)
    await seat?.agent.close()
  }

  /** Removes all agents; each is made again when it is needed. */
  async close(): Promise<void> {
    await allDone(
      [...this.#seats.values()].map(
        ({ agent }) =>
          () =>
            agent.close(),
      ),
    )
  }

  #seatOf(session: string, signal: AbortSignal): Seat {
    refuseAborted(signal)
    const known = this.#seats.get(session)
    if (known !== undefined) return known
    const seat: Seat = { agent: shared(this.open), last: Promise.resolve() }
    this.#seats.set(session, seat)
    return seat
  }
}

const refuseAborted = (signal: AbortSignal): void => {
  if (signal.aborted) throw reasonOf(signal)
}
