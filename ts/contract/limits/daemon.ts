/** The driver's daemon and its lines. */

/** The driver's daemon. */
export const daemon = {
  /** Seconds without a connection after which one that a client started ends. */
  idleSeconds: 300,
  /** Milliseconds that one may take from its start to its first answer. */
  startTimeoutMs: 10_000,
  /** Milliseconds until one that takes connections and answers none of them is given up. */
  greetingTimeoutMs: 5_000,
  /** Milliseconds that one may take to its end. */
  endTimeoutMs: 30_000,
  /** Bytes of its log file, after which the older half goes. */
  logBytes: 1_000_000,
} as const

/** Bytes of one line that an edge reads, without its end; longer ones are refused. */
export const longestLineBytes = 16 * 1024 * 1024

/** Calls of one connection that are under way at a time; further ones wait. */
export const callsAtOnce = 64
