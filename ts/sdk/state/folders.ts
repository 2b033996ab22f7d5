/** Where the SDK keeps what it must find again. */
import { Failure } from '@backlot/contract/failure'
import { type Directories, placesOf } from '@backlot/contract/places'
import { InvalidArgumentError } from '../errors.ts'

/** Backlot's folders for this user; throws `invalid_argument` where the environment names none. */
export const folders = (): Directories => {
  try {
    return placesOf(globalThis.process?.env ?? {})
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new InvalidArgumentError('invalid_argument', error.message, { data: error.data })
  }
}
