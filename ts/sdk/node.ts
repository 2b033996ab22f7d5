/** What needs a runtime with files and processes. */
import { UnsupportedError } from './errors.ts'

/** Whether this program runs on Node, Bun or the like, rather than in a browser or at an edge. */
export const isNode = (): boolean => typeof process === 'object' && typeof process.versions?.node === 'string'

/** Loads what works with this machine's files and processes. Throws `unsupported` that names `what` elsewhere. */
export const node = async <T>(what: string, load: () => Promise<T>): Promise<T> => {
  if (isNode()) return load()
  throw new UnsupportedError(
    `${what} needs Node or Bun: this runtime has no files and processes. Do it there, and from here connect to a computer server by its address, or to the cloud.`,
  )
}
