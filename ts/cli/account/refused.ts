/** What the SDK refuses, as a command tells it. */
import { failures } from '@backlot/contract/failure'
import { BacklotError } from '@backlot/sdk'
import { say } from '../terminal/output.ts'

/** Does the work; gives the exit status, and says what the SDK refused. */
export const statusAfter = async (work: () => Promise<unknown>): Promise<number> => {
  try {
    await work()
    return 0
  } catch (error) {
    if (!BacklotError.is(error)) throw error
    await say(`error: ${error.message}`)
    return error.code === 'invalid_argument' ? failures.invalid_argument.exit : 1
  }
}
