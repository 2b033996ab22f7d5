/** What all servers have in common. */

/** Screens in browsers. */
export const screens = {
  /** Bytes of input that wait at most for a screen to take them, and in one message. */
  mostWaitingBytes: 4 * 1024 * 1024,
} as const

/** How a browser is let in where a server asks for a key. */
export const consoleAccess = {
  /** Milliseconds for which a link that was not used is good. */
  linkMs: 10 * 60 * 1_000,
  /** Seconds for which the cookie is good that a link gives. */
  passSeconds: 7 * 24 * 60 * 60,
} as const

/** Longest path in bytes that a Unix socket can have on Linux (unix(7)). */
export const longestSocketPath = 107
