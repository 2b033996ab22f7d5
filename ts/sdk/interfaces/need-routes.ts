/** What only a server's other routes can do. */
import { UnsupportedError } from '../errors.ts'
import { type Routes, routes } from '../transports/routes.ts'
import type { Transport } from '../transports/transport.ts'

/** The routes behind a transport. Throws `unsupported` that names `what` where it carries commands alone. */
export const routesFor = (transport: Transport, what: string): Routes => {
  const found = transport[routes]
  if (found !== undefined) return found
  throw new UnsupportedError(
    `${what} needs a transport that reaches the whole server, such as HTTPTransport; this one carries commands alone.`,
  )
}
