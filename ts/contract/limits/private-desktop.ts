/** A private desktop. */
export const privateDesktop = {
  /** Pixels of the screen when nothing else is asked for. */
  size: { width: 1280, height: 800 },
  /** Pixels of the screen's sides, at least and at most. */
  smallestSide: 64,
  longestSide: 16_384,
  /** Milliseconds until every part must be ready. */
  startTimeoutMs: 20_000,
} as const
