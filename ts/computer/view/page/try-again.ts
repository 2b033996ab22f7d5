/** Milliseconds after which a screen that went away is looked for again. */
export const tryAgainMs = 1_000
