/** Every way a Backlot call can fail: one row for each code, from which the edges derive status, text and exit code. */
import { callFailures } from './failures/calls.ts'
import { commandFailures } from './failures/commands.ts'
import { computerFailures } from './failures/computer.ts'
import { desktopFailures } from './failures/desktop.ts'
import { diskFailures } from './failures/disks.ts'
import { elementFailures } from './failures/elements.ts'
import { httpFailures } from './failures/http.ts'
import { imageFailures } from './failures/images.ts'
import { kinds } from './failures/kind.ts'
import { pageFailures } from './failures/pages.ts'
import { sandboxFailures } from './failures/sandboxes.ts'
import { vmFailures } from './failures/vms.ts'

/** The closed list of failures, keyed by code; the rows of each surface stand in a file of `failures/`. */
export const failures = {
  ...callFailures,
  ...desktopFailures,
  ...elementFailures,
  ...pageFailures,
  ...commandFailures,
  ...httpFailures,
  ...diskFailures,
  ...vmFailures,
  ...imageFailures,
  ...computerFailures,
  ...sandboxFailures,
  ...kinds({ internal: { when: 'A defect in Backlot.', exit: 1, status: 500 } }),
}

/** A failure's code. */
export type FailureCode = keyof typeof failures

/** The failure's code that a value is; `internal` where it is none. */
export const codeOf = (code: unknown): FailureCode =>
  typeof code === 'string' && Object.hasOwn(failures, code) ? (code as FailureCode) : 'internal'

/** The exit status of a command that failed with that code. */
export const exitOf = (code: unknown): number => failures[codeOf(code)].exit

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
    return new Failure(codeOf(code), typeof message === 'string' ? message : String(error))
  }
}
