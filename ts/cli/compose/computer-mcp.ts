/** The driver's tools at `/mcp` of a computer server, through the daemon of its display. */
import type { Replaceable, RouteGroup } from '@backlot/computer'
import { fullAccess } from '@backlot/driver/edges/access'
import { daemonRunner } from '@backlot/driver/edges/client/proxy'
import { type McpOverHttp, serveMcpOverHttp } from '@backlot/driver/edges/mcp/mcp-http'
import { reachOf } from '../tool-call.ts'

/** The routes, and what ends their sessions. */
export interface McpRoutes {
  readonly group: RouteGroup
  /** Ends those that there are; a client that goes on is told to begin another (MCP, "Session Management"). */
  end(): Promise<void>
}

/** Serves once there is a computer: the display that names the daemon stands in the environment then. */
export const mcpRoutes = (computer: Replaceable<unknown>): McpRoutes => {
  let served: McpOverHttp | undefined
  const serve = async (request: Request): Promise<Response> => {
    await computer.get()
    served ??= serveMcpOverHttp(() => daemonRunner(reachOf(undefined), fullAccess))
    return served.answer(request)
  }
  return {
    group: {
      routes: (app) => app.all('/mcp', ({ request }) => serve(request)),
      features: () => ({ mcp: true }),
    },
    async end() {
      const ending = served
      served = undefined
      await ending?.[Symbol.asyncDispose]()
    },
  }
}
