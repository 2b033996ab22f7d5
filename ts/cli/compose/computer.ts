/** A computer server put together: a desktop, its commands, and the driver's tools over MCP. */
import { type Backend, desktopBackend, filmRoutes, Person, Replacement, Terminals, viewRoutes } from '@backlot/computer'
import { Failure } from '@backlot/contract/failure'
import type { PrivateDesktop } from '@backlot/headless'
import type { Key, ListeningServer } from '@backlot/serve'
import { mcpRoutes } from './computer-mcp.ts'
import { type DesktopSession, keepRunning } from './desktop-session.ts'
import { listenWithView } from './listening.ts'
import { screenOf, serveDesktops } from './served-desktops.ts'

export interface ComputerOptions {
  readonly address: string
  readonly port: number
  readonly key: Key | undefined
  readonly isOpen: boolean
  readonly names: readonly string[]
  /** A private desktop to start and serve, with pixels of its screen; the one of the environment when absent. */
  readonly desktop: { readonly width: number; readonly height: number } | undefined
  /** What the private desktop shows beside its windows. */
  readonly session?: DesktopSession | undefined
  /** A folder that leads to the X server that the private desktop takes; it starts one when absent. */
  readonly xServer?: string | undefined
  /** A second port, of the same address and as guarded, whose first page is the view. */
  readonly viewPort?: number | undefined
  /** The port of 127.0.0.1 from which callers are led to the Unix socket. */
  readonly forwardedPort?: number | undefined
  log(line: string): void
}

/** A computer server that listens; disposing of it ends its desktop too. */
export interface RunningComputer extends ListeningServer {
  /** Rejects where the desktop did not start. */
  readonly failed: Promise<never>
  /** Where the second port listens. */
  readonly viewUrl: string | undefined
}

/** Starts it; it answers before its desktop is ready. */
export const startComputer = async (options: ComputerOptions): Promise<RunningComputer> => {
  const { desktop: size, session, viewPort, xServer, ...listening } = options
  const terminals = new Terminals()
  const person = new Person(() => process.env)
  const backend = new Replacement<Backend>()
  const mcp = mcpRoutes(backend)
  const film = filmRoutes(backend)
  let desktop: PrivateDesktop | undefined
  const begin = async (begun?: PrivateDesktop) => {
    desktop = begun
    const opened = desktopBackend(terminals)
    backend.begin(opened)
    if (begun !== undefined && session !== undefined) void furnish(session, begun, opened, options.log)
  }
  const end = async (why: string) => {
    const ended = backend.get()
    backend.end(why)
    desktop = undefined
    await Promise.all([mcp.end(), film.endDisplay(), (await ended)[Symbol.asyncDispose]()])
  }
  await using opening = new AsyncDisposableStack()
  const served =
    size === undefined
      ? undefined
      : opening.use(serveDesktops({ size, menu: session?.menu, xServer, begin, end, log: options.log }))
  opening.defer(async () => {
    if (backend.phase === 'ready') await (await backend.get())[Symbol.asyncDispose]()
  })
  if (served === undefined) await begin()
  served?.failed.catch((error: unknown) => backend.fail(Failure.from(error)))
  const groups = [mcp.group, film.group, viewRoutes(person, () => screenOf(desktop))]
  const parts = { ...listening, backend, osType: 'linux', terminals, person } as const
  const reached = await listenWithView(opening, { ...parts, groups }, viewPort)
  opening.use(film)
  opening.defer(mcp.end)
  const opened = opening.move()
  return {
    ...reached,
    failed: served?.failed ?? new Promise<never>(() => {}),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** Shows the picture and starts the programs of a session. */
const furnish = async (
  { wallpaper, programs }: DesktopSession,
  desktop: PrivateDesktop,
  backend: Backend,
  log: (line: string) => void,
): Promise<void> => {
  for (const program of programs) void keepRunning(desktop, program, log)
  if (wallpaper === undefined) return
  const call = { signal: AbortSignal.timeout(wallpaperMs) }
  await backend.handlers.set_wallpaper?.({ path: wallpaper }, call).catch((error: unknown) => {
    log(`session: ${Failure.from(error).message}`)
  })
}

/** Milliseconds within which the picture is shown. */
const wallpaperMs = 10_000
