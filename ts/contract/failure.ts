/** Every way a Backlot call can fail: one row for each code, from which the edges derive status, text and exit code. */

interface Kind {
  /** When it is met, for the reference page. */
  readonly when: string
  /** Exit code of the shell form. */
  readonly exit: number
}

const kind = <const Code extends string>(rows: Record<Code, Kind>): Record<Code, Kind> => rows

/** The closed list of failures, keyed by code. */
export const failures = kind({
  invalid_json: { when: 'The text is not JSON, or not a JSON object.', exit: 2 },
  unknown_tool: { when: 'No tool has that name.', exit: 64 },
  tool_not_allowed: { when: '`--read-only` or `--allow` keeps this tool from being called.', exit: 1 },
  missing_argument: { when: 'A required argument is absent.', exit: 1 },
  unknown_argument: { when: 'The tool takes no argument of that name.', exit: 1 },
  invalid_argument: {
    when: 'An argument has the wrong type, is out of range or is none of the accepted values.',
    exit: 1,
  },
  invalid_environment: { when: 'An environment variable holds a value that cannot be used.', exit: 1 },
  cancelled: { when: 'The caller cancelled the call.', exit: 1 },
  internal: { when: 'A defect in Backlot.', exit: 1 },
})

/** A failure's code. */
export type FailureCode = keyof typeof failures

/** A failed call: `code` is stable, `message` names the thing and ends with the next step, `data` holds the facts. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    readonly code: FailureCode,
    message: string,
    readonly data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
  }

  /** Gives any thrown value its code: failures stay as they are, coded errors of the native core keep their code. */
  static from(error: unknown): Failure {
    if (error instanceof Failure) return error
    const { code, message } = error as { code?: unknown; message?: unknown }
    const text = typeof message === 'string' ? message : String(error)
    return typeof code === 'string' && Object.hasOwn(failures, code)
      ? new Failure(code as FailureCode, text)
      : new Failure('internal', text)
  }
}
