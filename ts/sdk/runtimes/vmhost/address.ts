/** Where a VM host is. */
import { environment, vmHostPort } from '@backlot/contract/limits'
import { invalidArgument } from '../../errors.ts'
import { unixFetch } from '../../local/unix-fetch.ts'
import type { HostAddress } from './host.ts'

/** The address that was given, else that of the environment, else the usual one; throws `invalid_argument`. */
export const addressOf = (given: { readonly url?: string; readonly token?: string }): HostAddress => {
  const shown = given.url ?? (process.env[environment.hostUrl] || `http://127.0.0.1:${vmHostPort}`)
  const token = given.token ?? (process.env[environment.hostToken] || undefined)
  if (shown.startsWith('unix:')) return unixAddress(shown.slice('unix:'.length), token)
  if (URL.canParse(shown) && /^https?:$/.test(new URL(shown).protocol)) {
    return { url: shown.replace(/\/+$/, ''), shown, token, fetch: (url, init) => fetch(url, init) }
  }
  throw invalidArgument('url', `"${shown}" is no address of a VM host; give http://HOST:PORT or unix:PATH.`)
}

/** The host on a Unix socket. */
export const unixAddress = (path: string, token?: string): HostAddress => ({
  ...{ url: 'http://localhost', shown: `unix:${path}`, token },
  fetch: unixFetch(path).fetch,
})

/** Whether a host at an address is on this machine, by what the address says. */
export const isHere = (url: string): boolean => /^https?:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(url)
