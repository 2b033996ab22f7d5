/** The service without its socket: routes read off the declarations, one guard before them, one answer to failures. */
import type { Endpoint, Endpoints, Input } from '@backlot/contract/endpoint'
import { Failure, failures } from '@backlot/contract/failure'
import { vmHostPrefixes } from '@backlot/contract/limits'
import { version } from '@backlot/contract/version'
import { vmHost } from '@backlot/contract/vmhost'
import { screenPath } from '@backlot/contract/vmhost/console'
import { eventsPath } from '@backlot/contract/vmhost/operation'
import { type AnyElysia, Elysia } from 'elysia'
import { pages, refusedPage } from './console/pages.ts'
import { type JoinScreen, screenOf } from './console/screen.ts'
import { admit, type Entry } from './guard.ts'
import { eventStream } from './handlers/events.ts'
import { handlers } from './handlers.ts'
import { secured } from './headers.ts'
import type { Host } from './host.ts'
import { readInput } from './input.ts'
import { texts } from './listing.ts'
import { openApi } from './openapi.ts'

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Answers one request; never throws. */
export type Answer = (request: Request) => Promise<Response>

/** The service of `host` for those whom `entry` admits; `report` hears of defects. */
export const createApp = (
  host: Host,
  entry: Entry,
  joinScreen: JoinScreen,
  report: (defect: unknown) => void,
): Answer => {
  const document = once(() => openApi(vmHost, vmHostPrefixes[0], version))
  // Compiling routes beforehand takes longer than all that a person or an agent asks in a day would save.
  const edge = () =>
    new Elysia({ aot: false })
      .onRequest(({ request, set }) => {
        const cookie = admit(request, entry)
        if (cookie !== undefined) set.headers['set-cookie'] = cookie
      })
      // The framework would answer 415 or 422 where clients know 400 only, and read media types by their name.
      .onParse(() => unread)
      .onError(async ({ error, code, request, set }) => {
        const failure = code === 'NOT_FOUND' ? unknownOperation(request) : Failure.from(error)
        if (failure.code === 'internal') report(error)
        const page = failure.code === 'unauthorized' ? await refusedPage(request) : undefined
        if (page !== undefined) return page
        set.status = statusOf(failure, request)
        return { code: failure.code, message: failure.message, ...failure.data }
      })
  const [ours, theirs] = vmHostPrefixes
  const main = withOperations(edge().get('/openapi.json', document).use(pages(document)), ours, host, joinScreen)
  // Routes are a part of the start: those of existing clients are made when the first of them comes.
  const other = once(() => withOperations(edge(), theirs, host, joinScreen))
  return async (request) => {
    const app = pathOf(request).startsWith(`${theirs}/`) ? other() : main
    return secured(await app.fetch(request))
  }
}

/** Adds every operation under `prefix`. */
const withOperations = (app: AnyElysia, prefix: string, host: Host, joinScreen: JoinScreen): AnyElysia => {
  app.get(prefix + eventsPath, ({ request }) => eventStream(request, host))
  for (const [name, declared] of Object.entries(vmHost satisfies Endpoints)) {
    const handle = handlers[name as keyof typeof vmHost]
    for (const { method, path } of waysTo(declared)) {
      app.route(method, prefix + routeOf(path), async ({ request, params, set }) => {
        const result = await handle((await readInput(declared, params, request)) as Input<never>, host)
        set.status = declared.success.status
        const text = texts.get(result)
        return text === undefined ? result : new Response(text, asJson)
      })
    }
  }
  return app.get(prefix + routeOf(screenPath), async ({ request, params }) => {
    const vm = await handlers.getVm((await readInput(vmHost.getVm, params, request)) as Input<never>, host)
    if (joinScreen(request, screenOf(vm))) return new Response()
    throw new Failure(
      'not_a_socket',
      `The screen of "${vm.name}" is given to a WebSocket; connect with one, or see it in the console.`,
    )
  })
}

/** Stands for a body that is read later. */
const unread = {}

const routeOf = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

const asJson = { headers: { 'Content-Type': 'application/json' } }

/** Every method and path, below the prefix, by which an operation is called. */
const waysTo = ({ method, path, alias }: Endpoint): { method: string; path: string }[] => [
  { method, path },
  ...(alias === undefined ? [] : [alias]),
]

const unknownOperation = (request: Request): Failure => {
  const operation = `${request.method} ${pathOf(request)}`
  return new Failure('unknown_operation', `There is no operation "${operation}"; /openapi.json lists them.`, {
    operation,
  })
}

const pathOf = (request: Request): string => URL.parse(request.url)?.pathname ?? request.url

/** Clients of the specified operations know no failure but 400; what is ours or nobody's answers as the web does. */
const statusOf = (failure: Failure, request: Request): number => {
  const { status = 400 } = failures[failure.code]
  return status < 500 && isSpecified(request) ? 400 : status
}

/** Only refusals ask: the patterns are made when the first is given. */
const specified = once(() =>
  Object.values<Endpoint>(vmHost)
    .filter(({ ours }) => !ours)
    .flatMap(waysTo)
    .map(({ method, path }) => ({
      method,
      path: new RegExp(`^(${vmHostPrefixes.join('|')})${path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
    })),
)

const isSpecified = (request: Request): boolean =>
  specified().some(({ method, path }) => method === request.method && path.test(pathOf(request)))
