/** The description of the commands, for people, who can try them there, and for programs. */
import { Failure } from '@backlot/contract/failure'
import { assetsOf, type BoundServer } from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import { document } from './openapi.ts'

/** Path of the page. */
export const docsPath = '/docs'

const assets = assetsOf(async () => (await import('./bundle.ts')).bundle())

/** Adds `/docs`, its files, and `/openapi.json`. */
export const docsRoutes = (app: AnyElysia, _server: BoundServer): AnyElysia =>
  app
    .get('/openapi.json', document)
    .get(docsPath, ({ request }) => assets('index.html', request))
    .get(`${docsPath}/files/:file`, async ({ params, request }) => {
      const file = await assets(params.file, request)
      if (file !== undefined) return file
      throw new Failure('unknown_operation', `The page has no file "${params.file}".`)
    })
