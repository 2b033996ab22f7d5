/** Sessions, secrets and recordings. */

/** Sessions of agents. */
export const sessions = {
  /** Seconds without a call after which one ends, unless the environment says otherwise. */
  idleSeconds: 300,
  /** Characters of a session's name. */
  longestName: 200,
  /** Ended sessions that are remembered, so that their late calls are known as such. */
  endedKept: 1_000,
} as const

/**
 * Characters of a secret: shorter ones are masked in their own call only; of longer ones every part of that length is
 * masked, and of the longest only what comes first.
 */
export const secrets = { shortest: 4, part: 8, longest: 100_000 } as const

/** Recordings of what agents do. */
export const recording = {
  /** Seconds without a call of any tool after which all end, unless the environment says otherwise. */
  idleSeconds: 300,
  /** Milliseconds that a recorded call waits at most for the picture of its moment. */
  longestHoldMs: 4,
  /** Windows of the target whose trees are kept. */
  windows: 8,
  /** Turns that wait for the disk, from which on later ones have no picture and no tree. */
  mostWaiting: 32,
  /** Frames of a film in each second. */
  framesPerSecond: 30,
  /** Milliseconds that a film may take to end. */
  filmEndsMs: 5_000,
} as const

/** Playing a recording again. */
export const replay = {
  /** Milliseconds between two turns when the call does not say, and at most. */
  delayMs: 500,
  longestDelayMs: 60_000,
  /** Milliseconds that a window or an element may take to appear when it is looked for. */
  appearsMs: 5_000,
  /** Milliseconds between two looks. */
  pollIntervalMs: 100,
} as const
