/** The pages for people: the console, its files, and the description of the operations. */
import { Elysia, NotFoundError } from 'elysia'
import { consolePath } from '../guard.ts'
import { secured } from '../headers.ts'
import { asset, assetsPath } from './assets.ts'
import { docsPage } from './docs-page.ts'

const docsPath = '/docs'

/** The routes; `document` is the OpenAPI document. */
export const pages = (document: () => Record<string, unknown>) =>
  new Elysia()
    .get(consolePath, ({ request }) => asset('index.html', request))
    .get(
      docsPath,
      () => new Response(docsPage(document()), { headers: { 'content-type': 'text/html; charset=utf-8' } }),
    )
    .get(`${assetsPath}/:file`, async ({ params, request }) => {
      const file = await asset(params.file, request)
      if (file === undefined) throw new NotFoundError()
      return file
    })

/** What a browser is shown that comes to a page without being let in; undefined for other requests. */
export const refusedPage = async (request: Request): Promise<Response | undefined> => {
  const { pathname } = new URL(request.url)
  if (request.method !== 'GET' || (pathname !== consolePath && pathname !== docsPath)) return undefined
  if (!request.headers.get('accept')?.includes('text/html')) return undefined
  const answer = await asset('refused.html', request, 401)
  // It may load nothing from here, not even a style.
  answer?.headers.set(
    'content-security-policy',
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  )
  return answer && secured(answer)
}
