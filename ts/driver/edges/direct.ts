/** Tools run in this very process. */
import { Failure } from '@backlot/contract/failure'
import { shared } from '@backlot/contract/shared'
import { failed } from '../tool/result.ts'
import type { Access } from './access.ts'
import type { ToolRunner } from './tool-runner.ts'

/** Opens a driver at the first call; disposing of the runner closes it. `client` says whose the calls are. */
export const directRunner = (access: Access, client = 'direct'): ToolRunner => {
  const opened = shared(async () => {
    const [{ openDriver }, offer] = await Promise.all([import('../driver.ts'), import('./offer.ts')])
    const driver = await openDriver()
    return { driver, offer, close: () => driver[Symbol.asyncDispose]() }
  })
  return {
    async call(name, args, signal) {
      try {
        const { driver, offer } = await opened.get()
        return await offer.callPermitted(access, driver, name, args, { client, signal })
      } catch (error) {
        return failed(Failure.from(error))
      }
    },
    access: async () => access,
    async [Symbol.asyncDispose]() {
      await opened.close()
    },
  }
}
