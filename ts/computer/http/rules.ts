/** How the guard of a computer server differs from that of others. */
import { environment } from '@backlot/contract/limits'
import { bearerKey, type Rules } from '@backlot/serve'

/** The key that a request shows, in either of the two ways that clients have. */
export const keyIn = (headers: Headers): string | undefined => headers.get('x-api-key') ?? bearerKey(headers)

/** What the page of the view asks for to look on: itself, its files, the film, and the screen without its input. */
const onlyLooks = ({ method, url }: Request): boolean => {
  const { pathname, searchParams } = new URL(url)
  if (method !== 'GET') return false
  if (pathname === '/view/screen') return isViewOnly(searchParams)
  return pathname === '/view' || pathname === '/view/film' || pathname.startsWith('/view/files/')
}

/** Whether an address of the view means to look on. */
export const isViewOnly = (query: URLSearchParams): boolean => query.get('view_only') === 'true'

/** What a server asks of a request. */
export const rules: Rules = {
  keyIn,
  // A client may show the key in its first message; nothing is answered before.
  needsNoKey: ({ method, url, headers }) => {
    const path = URL.parse(url)?.pathname
    return method === 'GET' && (path === '/status' || (path === '/ws' && headers.get('upgrade') !== null))
  },
  onlyLooks,
  pagePath: '/view',
  realm: 'computer',
  texts: {
    crossSite:
      'A page of another site may not use this computer. Type the address of its view, or take the link that the server printed.',
    fromGuest:
      'A guest may not use the computer of its host. Where it is meant to, start the server with --key-file and give it the key.',
    unauthorized: 'This computer asks for its key; send it as `X-API-Key: KEY` or `Authorization: Bearer KEY`.',
    keyRequired: `give the server a key with --key-file or ${environment.computerKey}.`,
  },
}
