/** The live view: the page, its files, and the screen of a computer whose X server is a VNC server of ours. */
import { Failure } from '@backlot/contract/failure'
import { assetsOf, type BoundServer, pagePolicy, refusedPage, type ScreenAddress } from '@backlot/serve'
import { Type } from '@sinclair/typebox'
import type { AnyElysia } from 'elysia'
import { fieldsOf } from '../http/fields.ts'
import { isViewOnly } from '../http/rules.ts'
import type { Person } from '../person.ts'
import type { RouteGroup } from '../route-group.ts'
import { viewerSocket } from './socket.ts'

/** Path of the page, the only one that a link opens. */
export const viewPath = '/view'

const assets = assetsOf(async () => (await import('./bundle.ts')).bundle())

const NewLink = Type.Object({ view_only: Type.Optional(Type.Boolean()) })

/** The screen to show, once it is known; undefined where there is none that can be shown so. */
export type FindScreen = () => ScreenAddress | undefined

const noScreen = 'the display is served by no VNC server of Backlot; start one with --desktop, where Xvnc is installed'

/** The view of a screen, at which `person` may take over. */
export const viewRoutes = (person: Person, findScreen: FindScreen): RouteGroup => ({
  features: () => ({ view: findScreen() === undefined ? noScreen : true }),
  routes: (app: AnyElysia, server: BoundServer) =>
    app
      .get(viewPath, async ({ request }) => {
        const page = await assets('index.html', request)
        // A film is given to its player by the page itself.
        page?.headers.set('content-security-policy', `${pagePolicy}; media-src blob:`)
        return page
      })
      .get(`${viewPath}/files/:file`, async ({ params, request }) => {
        const file = await assets(params.file, request)
        if (file !== undefined) return file
        throw new Failure('unknown_operation', `The view has no file "${params.file}".`)
      })
      .post(`${viewPath}/link`, async ({ request }) => {
        const { view_only = false } = await fieldsOf(request, NewLink)
        const url = server.newLink(view_only ? 'look' : 'act')
        if (url === undefined) return { url: null }
        const address = new URL(url)
        if (view_only) address.searchParams.set('view_only', 'true')
        return { url: address.href }
      })
      .get(`${viewPath}/screen`, ({ request }) => {
        const screen = findScreen()
        if (screen === undefined) throw new Failure('not_available', `There is no live view: ${noScreen}.`)
        if (
          server.join(request, viewerSocket(screen, person, isViewOnly(new URL(request.url).searchParams)), ['binary'])
        )
          return new Response()
        throw new Failure('not_a_socket', 'The screen is given to a WebSocket; open /view in a browser.')
      }),
})

/** What a browser is shown that comes to the view without being let in; undefined for other requests. */
export const refusedView = (request: Request): Response | undefined =>
  refusedPage(request, {
    name: 'view',
    paths: [viewPath],
    guard: 'The computer asks for a key.',
    source:
      'the one that <code>backlot computer</code>\n    printed when it started, or another that a program with the key gets from <code>POST /view/link</code>.',
  })
