/** What parts a sandbox from its host, and how each is had. */

/** The levels, strongest first. */
export const levelNames = ['own-root', 'host-programs', 'landlock', 'none'] as const

/** A level by its name. */
export type LevelName = (typeof levelNames)[number]

/** Whether a level works here for this user. */
export interface IsolationLevel {
  readonly level: LevelName
  readonly works: boolean
  /** What was found, or why it does not work. */
  readonly reason: string
  /** What brings it, or null where nothing is to be done or nothing helps. */
  readonly remedy: string | null
}
