/** The service without its socket. */
import type { Endpoint, Input } from '@backlot/contract/endpoint'
import { Failure, failures } from '@backlot/contract/failure'
import { longestHostBodyBytes, vmHostPrefixes } from '@backlot/contract/limits'
import { version } from '@backlot/contract/version'
import { vmHost } from '@backlot/contract/vmhost'
import { screenPath } from '@backlot/contract/vmhost/console'
import { eventsPath } from '@backlot/contract/vmhost/operation'
import { sandboxOperations } from '@backlot/contract/vmhost/sandboxes'
import {
  addOperations,
  type BoundServer,
  endpointsOf,
  guardedApp,
  joinScreen,
  pathOf,
  type Refusal,
  type RequestHandler,
  readInput,
  routeOf,
  secured,
  type UpgradeWebSocket,
} from '@backlot/serve'
import type { AnyElysia } from 'elysia'
import { pages, refusedPage } from '../console/pages.ts'
import { addSandboxes, type HostSandboxes } from '../console/sandboxes.ts'
import { screenOf } from '../console/screen.ts'
import { hostEvents } from '../handlers/events.ts'
import { refuseOperation } from '../handlers/features.ts'
import { handlers } from '../handlers/index.ts'
import type { Host } from '../host/host.ts'
import { texts } from '../host/listing.ts'
import { addGuestRoutes } from './guest-routes.ts'
import { openApi } from './openapi.ts'

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** The service of `host` on a server; with `sandboxes` it shows them beside the VMs. */
export const createApp = (
  host: Host,
  { entry, join, report }: Pick<BoundServer, 'entry' | 'join' | 'report'>,
  sandboxes?: HostSandboxes,
): RequestHandler => {
  const document = once(() =>
    openApi(sandboxes === undefined ? vmHost : { ...vmHost, ...sandboxOperations }, vmHostPrefixes[0], version),
  )
  const edge = () => guardedApp(entry, refuse, report)
  const [ours, theirs] = vmHostPrefixes
  const main = withOperations(edge().get('/openapi.json', document).use(pages(document)), ours, host, join)
  if (sandboxes !== undefined) addSandboxes(main, ours, sandboxes, join)
  // Routes are a part of the start: those of existing clients are made when the first of them comes.
  const other = once(() => withOperations(edge(), theirs, host, join))
  return async (request) => {
    const app = pathOf(request).startsWith(`${theirs}/`) ? other() : main
    return secured(await app.fetch(request))
  }
}

const refuse = (failure: Failure, request: Request): Refusal => {
  const page = failure.code === 'unauthorized' ? refusedPage(request) : undefined
  return (
    page ?? {
      status: statusOf(failure, request),
      body: { code: failure.code, message: failure.message, ...failure.data },
    }
  )
}

/** Adds every operation under `prefix`. */
const withOperations = (app: AnyElysia, prefix: string, host: Host, join: UpgradeWebSocket): AnyElysia => {
  app.get(prefix + eventsPath, ({ request }) => hostEvents(request, host))
  addOperations(app, {
    declared: vmHost,
    prefix,
    longestBodyBytes: longestHostBodyBytes,
    async answer(name, input, signal) {
      const operation = name as keyof typeof vmHost
      refuseOperation(host.machines.hypervisor, operation, input as Input<never>)
      const result = await handlers[operation](input as Input<never>, host, signal)
      const text = texts.get(result)
      return text === undefined ? result : new Response(text, asJson)
    },
  })
  addGuestRoutes(app, prefix, host)
  return app.get(prefix + routeOf(screenPath), async ({ request, params }) => {
    const input = await readInput(vmHost.getVm, { request, params }, longestHostBodyBytes)
    const vm = await handlers.getVm(input as Input<never>, host)
    if (joinScreen(join, request, screenOf(vm))) return new Response()
    throw new Failure(
      'not_a_socket',
      `The screen of "${vm.name}" is given to a WebSocket; connect with one, or see it in the console.`,
    )
  })
}

const asJson = { headers: { 'Content-Type': 'application/json' } }

/** Clients of the specified operations know no failure but 400; what is ours or nobody's answers as the web does. */
const statusOf = (failure: Failure, request: Request): number => {
  const { status = 400 } = failures[failure.code]
  return status < 500 && isSpecified(request) ? 400 : status
}

/** Only refusals ask: the patterns are made when the first is given. */
const specified = once(() =>
  Object.values<Endpoint>(vmHost)
    .filter(({ ours }) => !ours)
    .flatMap(endpointsOf)
    .map(({ method, path }) => ({
      method,
      path: new RegExp(`^(${vmHostPrefixes.join('|')})${path.replace(/\{\w+\}/g, '[^/]+')}/?$`),
    })),
)

const isSpecified = (request: Request): boolean =>
  specified().some(({ method, path }) => method === request.method && path.test(pathOf(request)))
