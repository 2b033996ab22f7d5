/** Web pages. */
export const page = {
  /** Milliseconds that a browser may take to say what it is. */
  discoveryMs: 2_000,
  /** Milliseconds that one command to a browser may take. */
  commandMs: 5_000,
  /** Milliseconds that a session of WebDriver BiDi may take to begin, and after which it is no longer expected to. */
  sessionMs: { usual: 15_000, latest: 120_000 },
  /** Milliseconds for a question to a page that nobody waits for. */
  backgroundMs: 1_000,
  /** Milliseconds that a script may run and its promise may take, when the call does not say. */
  scriptMs: 10_000,
  /** Milliseconds added for a browser to report that it ended a script. */
  graceMs: 1_000,
  /** Milliseconds that an element may move before it is clicked where it is. */
  settleMs: 500,
  /** Milliseconds that a connection to a browser is kept after its last use. */
  lingerMs: { cdp: 60_000, webdriver_bidi: 1_000 },
  /** Characters of a page's text that one call gives. */
  longestText: 200_000,
  /** Elements that one query gives, and characters of each text in them. */
  elements: 200,
  longestPart: 500,
} as const
