/** What cannot be done, and why: a cell that is refused must stand here, and one that stands here must be refused. */
import type { Placing } from './matrix.ts'

/** Cells that are refused, with the code of the refusal. */
export interface Exception {
  readonly toolkits: readonly string[]
  readonly placings: readonly Placing[]
  readonly actions: readonly string[]
  readonly code: string
  /** As the published page says it. */
  readonly reason: string
}

/** None of these depends on the window manager. */
export const exceptions: readonly Exception[] = []
