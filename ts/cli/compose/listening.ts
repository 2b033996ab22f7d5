/** The ports of a computer server that was put together. */
import { type ComputerServerOptions, listenComputer, type RouteGroup } from '@backlot/computer'
import { frontRoutes } from './front.ts'

/** Listens with the groups, and at `viewPort` with the view as the first page, until `opening` is disposed of. */
export const listenWithView = async (
  opening: AsyncDisposableStack,
  parts: ComputerServerOptions & { readonly groups: readonly RouteGroup[] },
  viewPort: number | undefined,
) => {
  const server = opening.use(await listenComputer(parts))
  const groups = [...parts.groups, frontRoutes]
  const view =
    viewPort === undefined ? undefined : opening.use(await listenComputer({ ...parts, port: viewPort, groups }))
  return { url: server.url, viewUrl: view?.url, newLink: () => (view ?? server).newLink() }
}
