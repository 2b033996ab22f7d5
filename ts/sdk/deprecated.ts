/** What was there before the class methods, with its notices. */
import type { CallOptions } from './basics.ts'
import { invalidArgument } from './errors.ts'
import type { Image } from './image/image.ts'
import { Localhost } from './localhost.ts'
import { addressIn } from './sandbox/address.ts'
import { Sandbox } from './sandbox/sandbox.ts'
import type { ConnectOptions, CreateOptions } from './sandbox/where.ts'

const noticed = new Set<string>()

/** Tells the program's author, once. */
const notice = (what: string, instead: string): void => {
  if (noticed.has(what)) return
  noticed.add(what)
  const text = `\`${what}()\` is deprecated: use ${instead}.`
  if (typeof globalThis.process?.emitWarning === 'function') process.emitWarning(text, 'DeprecationWarning')
  else console.warn(`DeprecationWarning: ${text}`)
}

/** @deprecated Use `Localhost.connect()`. */
export const localhost = (options?: CallOptions & { display?: string }): Promise<Localhost> => {
  notice('localhost', '`Localhost.connect()`')
  return Localhost.connect(options)
}

/** @deprecated Use `Sandbox.create()`, `Sandbox.connect()` or `Sandbox.ephemeral()`. */
export const sandbox = (
  options: ConnectOptions & { image?: Image; name?: string; ephemeral?: boolean } = {},
): Promise<Sandbox> => {
  notice('sandbox', '`Sandbox.create()`, `Sandbox.connect()` or `Sandbox.ephemeral()`')
  const { image, name, ephemeral = false, ...rest } = options
  if (image === undefined || addressIn(rest) !== undefined) {
    if (ephemeral) {
      const text = 'An ephemeral sandbox needs an image to start from. Give "image", or call `Sandbox.connect()`.'
      return Promise.reject(invalidArgument('image', text))
    }
    return Sandbox.connect(name ?? 'sandbox', rest as ConnectOptions)
  }
  const wanted = { ...rest, ...(name !== undefined && { name }) } as CreateOptions
  return ephemeral ? Sandbox.ephemeral(image, wanted) : Sandbox.create(image, wanted)
}
