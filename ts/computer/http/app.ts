/** The computer server without its socket: its routes, one guard before them, one answer to failures. */
import { Failure, failures } from '@backlot/contract/failure'
import { type BoundServer, guardedApp, isKey, type Refusal, secured } from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import type { AbilityProbe } from '../abilities.ts'
import type { Computer } from '../command/run.ts'
import { refusedView } from '../view/routes.ts'
import { answerCommand } from './cmd.ts'
import { keyIn } from './rules.ts'
import { commandSocket } from './socket.ts'
import { commandsOf, statusOf } from './status.ts'

/** What the routes are made of. */
export interface AppParts {
  readonly abilities: AbilityProbe
  /** Settles when commands can be run, with what they are run on now. */
  computer(): Promise<Computer>
  /** Groups of routes of their own: files, terminals, view, film, MCP. */
  readonly groups: readonly ((app: AnyElysia, server: BoundServer) => AnyElysia)[]
}

/** Answers the requests of a server that has begun; never throws. */
export const createApp = (parts: AppParts, server: BoundServer): ((request: Request) => Promise<Response>) => {
  const { abilities, computer, groups } = parts
  const base = guardedApp(server.entry, refuse, server.report)
    .get('/status', async () => statusOf(await abilities.now()))
    .get('/commands', async () => commandsOf(await abilities.now()))
    .post('/cmd', async ({ request }) => answerCommand(await computer(), request))
    .get('/ws', async ({ request }) => {
      const { key } = server.entry
      const shown = keyIn(request.headers)
      const handler = commandSocket(computer, {
        isAdmitted:
          key === undefined ||
          (shown !== undefined && isKey(shown, key)) ||
          server.entry.passes?.isHeldBy(cookieOf(request)) === true,
        isKey: (given) => key !== undefined && isKey(given, key),
      })
      if (server.join(request, handler)) return new Response()
      throw new Failure('not_a_socket', 'Commands are taken by a WebSocket here; connect with one, or use POST /cmd.')
    })
  const app = groups.reduce<AnyElysia>((before, group) => group(before, server), base)
  return async (request) => secured(await app.fetch(request))
}

const cookieOf = ({ headers }: Request): string => headers.get('cookie') ?? ''

/** The words that clients know. */
const refusedKey = ({ headers }: Request): string =>
  keyIn(headers) === undefined ? 'API key required' : 'Authentication failed'

/** A failure as clients read it: `detail` for those of the commands, `code` and `message` as all our servers say it. */
const refuse = (failure: Failure, request: Request): Refusal => {
  const { code, message, data } = failure
  const page = code === 'unauthorized' ? refusedView(request) : undefined
  if (page !== undefined) return page
  const detail = code === 'unauthorized' ? refusedKey(request) : message
  return { status: failures[code].status ?? 400, body: { ...data, detail, code, message } }
}
