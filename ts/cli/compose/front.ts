/** The first page of a port that is there for the view: who types its bare address is led on. */
import { type RouteGroup, viewPath } from '@backlot/computer'

export const frontRoutes: RouteGroup = {
  features: () => ({}),
  routes: (app) => app.get('/', () => new Response(null, { status: 302, headers: { Location: viewPath } })),
}
