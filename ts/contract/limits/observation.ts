/** Calls that look, and what is watched for after an action. */

/** Tree of one window: how much is walked, and for how long, when the call does not say. */
export const tree = { maxElements: 10_000, maxDepth: 100, timeoutMs: 5_000 } as const

/** Watching an action for its effect. */
export const evidence = {
  /** Milliseconds at most, unless the configuration says otherwise. */
  ceilingMs: 400,
  /** Milliseconds between the first two looks when no event comes; how much longer each further wait is. */
  pollIntervalMs: 20,
  slowing: 1.3,
  /** Milliseconds in which nothing may be drawn before an action, for changed pixels to be its effect: carets and clocks pause for less. */
  staticMs: 1_100,
  /** Milliseconds for which changed pixels must stay: a highlight under a pointer that passes is gone sooner. */
  stableMs: 100,
  /** Milliseconds of silence after which events count as an answer to what was just done. */
  minQuietMs: 80,
  /** Milliseconds that an application gets at most to prove that it has handled an action. */
  handledMs: 2_000,
  /** Milliseconds without drawing and events, after all was handled, in which two frames of a usual display would have come. */
  frameMs: 36,
  /** Milliseconds for which an element looks pressed at most that its toolkit presses: Qt takes 100, GTK 4 takes 250, and both act after that. */
  pressedMs: 350,
  /** Pixels around an element in which its control may be drawn: GTK 4 tells the place of what is within its padding. */
  marginPx: 24,
} as const

/** What comes of an action after it was answered. */
export const late = {
  /** Milliseconds for which it is waited for; an application must have been silent for as long before. */
  followMs: 1_000,
  /** Milliseconds between two looks at most. */
  pollIntervalMs: 200,
  /** Milliseconds that an answer waits at most for a look at what came late. */
  answerMs: 250,
  /** Actions that are followed at a time, all sessions together. */
  mostFollowed: 32,
  /** Facts that are kept for a session until its next answer; of more only the number. */
  mostKept: 20,
  /** Applications whose last words are remembered. */
  mostApplications: 64,
} as const

/** Waiting for a condition, in milliseconds. */
export const waiting = {
  timeoutMs: 10_000,
  /** How long pixels stay until they count as still. */
  stillMs: 500,
  digestEveryMs: 20,
  /** An application that announces nothing is looked at again after so long. */
  recheckMs: 500,
  /** How long an application that announces much must be quiet, and how long that is awaited. */
  quietMs: 30,
  settleMs: 300,
} as const

/**
 * Milliseconds that an application must announce nothing before it is observed, and for which that is waited at most
 * unless the configuration says otherwise. A browser gathers its announcements for some 50 ms.
 */
export const observation = { quietMs: 80, ceilingMs: 1_000 } as const

/** Zoom pictures that are remembered for `from_zoom`, one for each caller and process. */
export const zoomsKept = 256
