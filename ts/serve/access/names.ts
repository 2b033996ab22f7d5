/** Under which names a server is known: what `Host` may say in requests to it. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { hostname } from 'node:os'

/** Whether only this machine reaches the address. */
export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || (isIPv4(address) && address.startsWith('127.'))

/** An address as it stands in a URL. */
export const urlHost = (address: string): string => (isIPv6(address) ? `[${address}]` : address)

/** The names of a server on an address of loopback, or on a Unix socket, whose callers say `localhost`. */
export const loopbackNames = (address: string, port: number): string[] => {
  const names = new Set(['localhost', '127.0.0.1', '[::1]', urlHost(address)])
  return [...names].flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]))
}

/**
 * Whether `host` names a server that listens on `address` beyond loopback: an address in numbers, a name of this
 * machine or one of `others`. A page can point a name of its own at our address, but no number; the port may be
 * another where something forwards it.
 */
export const isPublicName = (host: string, address: string, others: readonly string[]): boolean => {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([^[\]:@/?#\s]+))(?::\d{1,5})?$/.exec(host) ?? []
  if (bracketed !== undefined) return isIP(bracketed) === 6
  if (plain === undefined) return false
  const own = hostname().toLowerCase()
  const names = ['localhost', own, own.split('.')[0], `${own.split('.')[0]}.local`, address, ...others]
  return isIP(plain) === 4 || names.some((name) => name?.toLowerCase() === plain)
}
