/** What is known of each code of a failure. */
export interface FailureKind {
  /** When it is met, for the reference page. */
  readonly when: string
  /** Exit code of the shell form. */
  readonly exit: number
  /** Status on HTTP routes of our own, 400 when absent; operations of the VM host's specification answer 400 to all. */
  readonly status?: number
}

/** Rows of the list of failures, keyed by code. */
export const kinds = <const Code extends string>(rows: Record<Code, FailureKind>): Record<Code, FailureKind> => rows
