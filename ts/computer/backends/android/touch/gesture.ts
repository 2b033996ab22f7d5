/** The course of a gesture in time, whatever the fingers reach the device by. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Fingers } from './touch-events.ts'

/** A way by which fingers reach a device. */
export interface Touch {
  /** Puts all of them down. */
  down(fingers: Fingers): Promise<void>
  /** Moves all of them at once. */
  move(fingers: Fingers): Promise<void>
  /** Lifts all of them; settles when the device has taken that. */
  up(): Promise<void>
}

/** Puts the fingers of the first frame down, moves them from frame to frame in the time, and lifts them, also when given up. */
export const playGesture = async (
  touch: Touch,
  frames: readonly Fingers[],
  takesMs: number,
  signal: AbortSignal,
): Promise<void> => {
  const [first = [], ...rest] = frames
  signal.throwIfAborted()
  const began = performance.now()
  try {
    await touch.down(first)
    for (const [at, fingers] of rest.entries()) {
      const due = began + (takesMs * (at + 1)) / rest.length
      await pause(Math.max(0, due - performance.now()), undefined, { signal })
      await touch.move(fingers)
    }
  } catch (error) {
    // What went wrong first says more than what went wrong because of it.
    await touch.up().catch(() => undefined)
    throw error
  }
  await touch.up()
}
