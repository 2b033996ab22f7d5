/** Calls that act: what they may ask for, and how long an application may take. */

/** Longest time in milliseconds that a call may ask for. */
export const longestTimeoutMs = 60_000

/** Milliseconds that one accessibility action or text insertion may take. */
export const accessibleActionTimeoutMs = 2_000

/** Milliseconds that a value may take to appear after keys or a click have set it. */
export const valueAppearsMs = 2_500

/** How far one scroll goes. */
export const scroll = {
  amount: 3,
  most: 100,
  /** Pixels that one detent of a wheel moves, about. */
  detentPixels: 60,
  /** Milliseconds that an application gets at most to come to rest before it is scrolled. */
  restsMs: 500,
  /** Milliseconds in which what is scrolled moves, or does not. */
  movesMs: 300,
} as const

/** Milliseconds between two characters that are typed as key events. */
export const typingDelayMs = 30

/** Characters that one call may type. */
export const longestText = 100_000
