/** Addresses of computer servers, and what requests to them carry. */
import { type InvalidArgumentError, invalidArgument } from '../errors.ts'

/** Who calls. */
export interface Credentials {
  /** The key that the server asks for. @default none */
  apiKey?: string
  /** Name of the container, by which some hosts find the computer and its owner. @default none */
  containerName?: string
}

/** The headers that show who calls. */
export const headersOf = ({ apiKey, containerName }: Credentials): Readonly<Record<string, string>> => ({
  ...(apiKey !== undefined && { 'X-API-Key': apiKey }),
  ...(containerName !== undefined && { 'X-Container-Name': containerName }),
})

/** The root of a server, without a slash at its end, from an `http:` or `ws:` address. Throws `invalid_argument`. */
export const rootOf = (address: string): string => {
  let url: URL
  try {
    url = new URL(address)
  } catch {
    throw wrong(address)
  }
  if (!/^(https?|wss?):$/.test(url.protocol)) throw wrong(address)
  url.protocol = url.protocol.replace('ws', 'http')
  const path = url.pathname.replace(/\/+$/, '')
  const isSocket = address.startsWith('ws') && path.endsWith('/ws')
  return `${url.origin}${isSocket ? path.slice(0, -'/ws'.length) : path}`
}

const wrong = (address: string): InvalidArgumentError =>
  invalidArgument(
    'url',
    `"${address}" is no address of a computer server; give one such as "http://127.0.0.1:8000" or "ws://127.0.0.1:8000/ws".`,
  )

/** The address for WebSockets of a root. */
export const socketUrl = (root: string, path: string): string => root.replace(/^http/, 'ws') + path
