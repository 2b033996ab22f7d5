/** What `backlot doctor` says of one ability. */
export interface Finding {
  /** Stable name. */
  readonly id: string
  /** What it is for, in words. */
  readonly ability: string
  readonly state: 'works' | 'limited' | 'missing'
  /** What was found. */
  readonly detail: string
  /** The one command that mends it, or null where nothing is to be mended or nothing here mends it. */
  readonly mend: string | null
  /** Whether nothing works without it. */
  readonly essential: boolean
}

/** A finding without its name: what a check gives. */
export type CheckResult = Pick<Finding, 'state' | 'detail' | 'mend'>

export const works = (detail: string): CheckResult => ({ state: 'works', detail, mend: null })
export const limited = (detail: string, mend: string | null): CheckResult => ({ state: 'limited', detail, mend })
export const missing = (detail: string, mend: string): CheckResult => ({ state: 'missing', detail, mend })
