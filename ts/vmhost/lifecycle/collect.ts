/** Removes the bases that nobody needs any more. */
import { Failure } from '@backlot/contract/failure'
import type { Host } from '../host/host.ts'
import type { Storage } from '../storage/storage.ts'

/** Removes those of a location; what keeps it from that is logged, and harms nobody: the next one finds them again. */
export const collectBases = async ({ bases, log }: Pick<Host, 'bases' | 'log'>, storage: Storage): Promise<void> => {
  try {
    await bases.collect(storage)
  } catch (error) {
    const { code, message } = Failure.from(error)
    log.write('error', code, { message })
  }
}
