/** Lists that are awaited whole, or iterated page by page. */
import type { Listing } from '../basics.ts'

/** A list whose pages `pages` fetches anew for each reader; `pageSize` items of a whole answer are one page. */
export const listing = <T>(fetch: () => Promise<readonly T[]>): Listing<T> => ({
  // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for the whole list.
  then: (onList, onError) =>
    fetch()
      .then((items) => [...items])
      .then(onList, onError),
  async *[Symbol.asyncIterator]() {
    yield* await fetch()
  },
})
