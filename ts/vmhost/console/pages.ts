/** The pages for people: the console, its files, and the description of the operations. */
import { assetsOf, docsAnswer, refusedPage as shownRefusal } from '@backlot/serve'
import { Elysia, NotFoundError } from 'elysia'

/** Path of the web page, the only one that a link opens. */
export const consolePath = '/'

const docsPath = '/docs'

/** Path of a file of the page: `/console/style.css`. */
const assetsPath = '/console'

const assets = assetsOf(async () => (await import('./bundle.ts')).bundle())

/** The routes; `document` is the OpenAPI document. */
export const pages = (document: () => Record<string, unknown>) =>
  new Elysia()
    .get(consolePath, ({ request }) => assets('index.html', request))
    .get(docsPath, () => docsAnswer(document(), aboutDocs))
    .get(`${assetsPath}/:file`, async ({ params, request }) => {
      const file = await assets(params.file, request)
      if (file === undefined) throw new NotFoundError()
      return file
    })

const aboutDocs = {
  style: `${assetsPath}/docs.css`,
  links: { Console: consolePath, OpenAPI: '/openapi.json' },
  notices:
    'The console shows screens with noVNC 1.7 (MPL-2.0, source at https://github.com/novnc/noVNC) and is made with Preact (MIT).',
}

/** What a browser is shown that comes to a page without being let in; undefined for other requests. */
export const refusedPage = (request: Request): Response | undefined =>
  shownRefusal(request, {
    name: 'console',
    paths: [consolePath, docsPath],
    guard: 'The service asks for a token.',
    source:
      'the one that <code>backlot serve</code>\n    printed when it started, or another that <code>backlot host link</code> makes.',
  })
