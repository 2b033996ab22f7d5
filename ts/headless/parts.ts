/** The four parts of a desktop, in the order in which they need each other. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import {
  accessibilityBusCommand,
  accessibilityBusVariables,
  accessibilityReadyCommand,
  sessionBusCommand,
} from './buses.ts'
import { desktopVariables } from './environment.ts'
import { type GivenXServer, partOf } from './given-x-server.ts'
import { type DesktopProcess, type PartName, startPart } from './part.ts'
import type { Programs } from './programs.ts'
import { windowManagerReady } from './window-manager/window-manager.ts'
import { type WindowManagerName, windowManagerOf } from './window-manager/window-managers.ts'
import { xAuthority } from './x-cookie.ts'
import { showsScreen, xServerCommand } from './x-server.ts'

/** What the parts are started with. */
export interface PartsOptions {
  readonly programs: Programs
  readonly windowManager: WindowManagerName
  /** The file of the root window's menu. */
  readonly menu: string | undefined
  /** The desktop's folder, made already; `run` in it becomes the programs' `XDG_RUNTIME_DIR`. */
  readonly folder: string
  /** What every part inherits, the desktop's mark among it. */
  readonly env: Readonly<Record<string, string>>
  readonly size: { readonly width: number; readonly height: number }
  readonly glx: boolean
  /** One that runs already; null where it is started. */
  readonly xServer: GivenXServer | null
  readonly timeoutMs: number
  /** Once aborted, no further part is started: the guardian may have looked for them already. */
  readonly ending: AbortSignal
}

/** The socket at which the screen is shown. */
const vncSocketIn = (folder: string): string => join(folder, 'vnc')

/** Says that the user has no name where that is why the session bus ended: its own words speak of memory. */
const explainBus = (error: unknown): unknown => {
  const name = Bun.spawnSync(['id', '-un'], { stdout: 'ignore', stderr: 'ignore' })
  if (name.exitCode === 0) return error
  const uid = process.getuid?.()
  return new Failure(
    'user_without_name',
    `The user id ${uid} has no entry in the user database, without which the session bus ends; add one as root: echo "agent:x:${uid}:${process.getgid?.()}::/tmp:/bin/sh" >> /etc/passwd`,
    { uid },
  )
}

/**
 * Starts the parts and settles with them and the desktop's variables when all are ready.
 * Throws `desktop_not_started` or `user_without_name`, leaving what was started to the guardian.
 */
export const startParts = async (options: PartsOptions) => {
  const { programs, folder, env, ending } = options
  const start: Start = (name, command, variables = {}) =>
    startPart({ name, command, env: { ...env, ...variables }, folder, ending })

  const { server, display, authority, vncSocket } = await xServerOf(options, start)
  const variables = desktopVariables({ display, authority, runtime: join(folder, 'run') })

  const row = windowManagerOf(options.windowManager)
  const settings = row.variables(folder, options.menu)
  const startManager = (more: Record<string, string>): Promise<DesktopProcess> =>
    start('window_manager', row.command(programs.windowManager, folder, options.menu), {
      ...variables,
      ...more,
      ...settings,
    })
  const startEarly = async () => {
    if (row.needsBus) return undefined
    const manager = await startManager({})
    await manager.line(windowManagerReady)
    return manager
  }
  const [early, { session, accessibility, complete }] = await Promise.all([
    startEarly(),
    // What the bus starts for a window manager writes settings as that does.
    startBuses(options, start, variables, row.needsBus ? settings : {}),
  ])
  const manager = early ?? (await startManager(complete))
  ending.throwIfAborted()
  if (programs.xprop !== undefined) await announced(manager, programs.xprop, { ...env, ...complete })
  return {
    ...{ server, session, accessibility, manager },
    /** Starts another, where that one has ended. */
    startManager: () => startManager(row.needsBus ? complete : {}),
    variables: complete,
    vncSocket,
  }
}

/** The session bus and the accessibility bus, and the variables that lead to all parts; `more` are the session bus's own. */
const startBuses = async (
  { programs, folder, env, timeoutMs, ending }: PartsOptions,
  start: Start,
  variables: ReturnType<typeof desktopVariables>,
  more: Record<string, string>,
) => {
  const session = await start('session_bus', sessionBusCommand(programs.sessionBus, folder), { ...variables, ...more })
  const bus = await session.line(/^unix:/).catch((error: unknown) => {
    throw explainBus(error)
  })
  const complete = { ...variables, DBUS_SESSION_BUS_ADDRESS: bus }
  const accessibility = await start('accessibility_bus', accessibilityBusCommand(programs.accessibilityBus), {
    ...complete,
    ...accessibilityBusVariables,
  })
  ending.throwIfAborted()
  const asking = accessibilityReadyCommand(programs.busClient, Math.ceil(timeoutMs / 1000))
  const failure = await Promise.race([spawnSilent(asking, { ...env, ...complete }).exited, accessibility.failed])
  if (failure !== 0) throw failure instanceof Failure ? failure : await accessibility.failed
  return { session, accessibility, complete }
}

/** Starts a program whose status alone is of interest. */
const spawnSilent = (command: readonly string[], env: Record<string, string>) =>
  Bun.spawn([...command], { cwd: '/', env, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })

type Start = (
  name: PartName,
  command: [string, ...string[]],
  variables?: Record<string, string>,
) => Promise<DesktopProcess>

/** The X server, started or given, and what leads to it. */
const xServerOf = async ({ programs, folder, size, glx, xServer, ending }: PartsOptions, start: Start) => {
  if (xServer !== null) {
    const { number, authority, vncSocket } = xServer
    return { server: partOf(xServer, ending), display: `:${number}`, authority, vncSocket }
  }
  const authority = join(folder, 'x-authority')
  writeFileSync(authority, xAuthority(randomBytes(16)), { mode: 0o600 })
  const screen = { ...size, glx, authority, vncSocket: vncSocketIn(folder) }
  const server = await start('x_server', xServerCommand(programs.xServer, screen))
  const number = await server.line(/^\d+$/)
  writeFileSync(join(folder, 'display'), `${number}\n`)
  const vncSocket = showsScreen(programs.xServer) ? screen.vncSocket : undefined
  return { server, display: `:${number}`, authority, vncSocket }
}

/** Settles when a window manager has announced itself on the display (EWMH `_NET_SUPPORTING_WM_CHECK`), or is over. */
const announced = async (manager: DesktopProcess, xprop: string, env: Record<string, string>): Promise<void> => {
  const look = 'until "$0" -root _NET_SUPPORTING_WM_CHECK | grep -q 0x; do sleep 0.05; done'
  const looking = spawnSilent(['/bin/sh', '-c', look, xprop], env)
  const failure = await Promise.race([looking.exited, manager.failed])
  looking.kill()
  if (failure instanceof Failure) throw failure
}

/**
 * Settles when the first of the parts has ended by itself, with the one that the others followed: parts are looked at
 * in the order in which they need each other, because the end of one ends those behind it.
 */
export const firstToEnd = async (parts: readonly DesktopProcess[]): Promise<{ part: PartName; how: string }> => {
  const noticed = await Promise.race(parts.map((part) => part.exited.then(() => part)))
  const cause = parts.find((part) => !part.isAlive()) ?? noticed
  return { part: cause.name, how: await cause.exited }
}
