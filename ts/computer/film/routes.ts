/** The display as H.264: films in files, at `/film`, and live, at `/view/film`. */
import { join } from 'node:path'
import { filmLimits as limits } from '@backlot/contract/computer/limits'
import { placesOf } from '@backlot/contract/places'
import { shared } from '@backlot/contract/shared'
import { Desktop, LiveFilm } from '@backlot/native'
import { Type } from '@sinclair/typebox'
import { fieldsOf } from '../http/fields.ts'
import { answerFile } from '../http/file.ts'
import type { Replaceable } from '../replaceable.ts'
import type { RouteGroup } from '../route-group.ts'
import { Broadcast } from './broadcast.ts'
import { Films, filmName } from './films.ts'
import { liveRoute } from './live-route.ts'

const New = Type.Object({
  fps: Type.Optional(Type.Integer({ minimum: 1, maximum: 60 })),
  name: Type.Optional(Type.String({ pattern: filmName })),
})

/** The routes, and what ends all films. */
export interface FilmRoutes extends AsyncDisposable {
  readonly group: RouteGroup
  /** The display is over; what is filmed from now on is another one. */
  endDisplay(): Promise<void>
}

/** Films the display that stands in the environment once there is a computer. */
export const filmRoutes = (computer: Replaceable<unknown>): FilmRoutes => {
  const desktop = shared(async () => {
    await computer.get()
    return Desktop.open()
  })
  const films = new Films(() => join(placesOf(process.env).state, 'films'), desktop.get)
  const broadcast = new Broadcast(async () => LiveFilm.open(await desktop.get(), { fps: limits.fps }))
  return {
    group: {
      features: ({ display = 'there is no display' }) => ({ film: display }),
      routes: (app, server) =>
        liveRoute(computer, broadcast)(app, server)
          .get('/film', async () => ({ films: await films.list() }))
          .post('/film', async ({ request }) => {
            const { fps = limits.fps, name } = await fieldsOf(request, New)
            return films.start(name as string | undefined, fps as number)
          })
          .get('/film/:id', async ({ params, request }) => {
            const { id, bytes, running } = await films.find(params.id)
            const answer = answerFile(films.pathOf(id), request, {
              size: bytes,
              type: 'video/mp4',
              tag: running ? `${id}-running` : `${id}-${bytes}`,
              grows: running,
            })
            answer.headers.set('Film-Running', String(running))
            return answer
          })
          .delete('/film/:id', ({ params, request }) => {
            const isRemoved = new URL(request.url).searchParams.get('remove') === 'true'
            return isRemoved ? films.remove(params.id) : films.stop(params.id)
          }),
    },
    endDisplay: () => desktop.close(),
    async [Symbol.asyncDispose]() {
      await broadcast[Symbol.asyncDispose]()
      await films[Symbol.asyncDispose]()
      await desktop.close()
    },
  }
}
