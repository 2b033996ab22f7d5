/** The ports of a computer server that was put together. */
import { type ComputerServerOptions, listenComputer, type Room } from '@backlot/computer'
import { frontRoom } from './front.ts'

/** Listens with the rooms, and at `viewPort` with the view as the first page, until `opening` is disposed of. */
export const listenWithView = async (
  opening: AsyncDisposableStack,
  parts: ComputerServerOptions & { readonly rooms: readonly Room[] },
  viewPort: number | undefined,
) => {
  const server = opening.use(await listenComputer(parts))
  const rooms = [...parts.rooms, frontRoom]
  const view =
    viewPort === undefined ? undefined : opening.use(await listenComputer({ ...parts, port: viewPort, rooms }))
  return { url: server.url, viewUrl: view?.url, newLink: () => (view ?? server).newLink() }
}
