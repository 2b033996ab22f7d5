/** The route of the live film. */
import { Failure } from '@backlot/contract/failure'
import type { BoundServer } from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import type { Replaceable } from '../replaceable.ts'
import type { Broadcast } from './broadcast.ts'
import { filmSocket } from './viewer.ts'

/** Adds it; whoever comes waits for the computer. */
export const liveRoute =
  (computer: Replaceable<unknown>, broadcast: Broadcast) =>
  (app: AnyElysia, server: BoundServer): AnyElysia =>
    app.get('/view/film', async ({ request }) => {
      await computer.get()
      const form = new URL(request.url).searchParams.has('pictures') ? 'pictures' : 'fragments'
      if (server.join(request, filmSocket(broadcast, form))) return new Response()
      throw new Failure('not_a_socket', 'The live film is given to a WebSocket; open /view in a browser.')
    })
