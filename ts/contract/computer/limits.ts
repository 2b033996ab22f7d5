/** Defaults and limits of the computer server. */

/** Port that it listens on where none is named: the one that clients try in a guest. */
export const computerPort = 8_000

/** Bytes of a message, which holds a file of `longestFileAnswerBytes` in base64. */
export const longestComputerMessageBytes = 128 * 1024 * 1024

/** Bytes of a file that one answer holds; `/files` streams longer ones. */
export const longestFileAnswerBytes = 64 * 1024 * 1024

/** Commands that wait for their turn on one WebSocket. */
export const mostWaitingCommands = 1_000

/** Characters that are kept of each output of a shell command. */
export const shellOutputLength = 16 * 1024 * 1024

/** Films of one server. */
export const filmLimits = {
  /** How many are made into files at the same time. */
  most: 4,
  /** Pictures a second where a caller names no number, and of the live film. */
  fps: 30,
  /** How many callers may watch the live film at the same time. */
  mostViewers: 64,
  /** Bytes that wait for a viewer before it is left out of what follows. */
  mostWaitingBytes: 1024 * 1024,
  /** Milliseconds for which a viewer may not have taken what waits; then its socket is closed. */
  mostBehindMs: 20_000,
  /** Milliseconds between two whole pictures that are made for viewers who left some out. */
  betweenRefreshesMs: 1_000,
} as const

/** Terminals of one server. */
export const terminalLimits = {
  most: 64,
  /** Of those that have ended, whose output and status are kept. */
  keptAfterEnd: 64,
  /** Bytes that are kept of the output of each. */
  keptBytes: 1024 * 1024,
  cols: 80,
  rows: 24,
} as const
