/** Tools run in this very process. */
import type { Access } from './access.ts'
import type { Caller } from './caller.ts'

/** Opens a driver at the first call; letting go of the caller closes it. `client` says whose the calls are. */
export const directCaller = (access: Access, client = 'direct'): Caller => {
  let opened: Promise<Awaited<ReturnType<typeof open>>> | undefined
  const open = async () => {
    const [{ openDriver }, offer] = await Promise.all([import('../driver.ts'), import('./offer.ts')])
    return { driver: await openDriver(), offer }
  }
  return {
    async call(name, args, signal) {
      opened ??= open()
      const { driver, offer } = await opened
      return offer.callPermitted(access, driver, name, args, { client, signal })
    },
    access: async () => access,
    async [Symbol.asyncDispose]() {
      const { driver } = (await opened) ?? {}
      await driver?.[Symbol.asyncDispose]()
    },
  }
}
