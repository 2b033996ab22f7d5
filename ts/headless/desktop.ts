/** A private desktop: an X server, a window manager, a session bus and an accessibility bus that nobody else sees. */

import { addAbortListener } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment, longestSocketPath, privateDesktop } from '@backlot/contract/limits'
import type { Variables } from '@backlot/contract/places'
import { placesOf } from '@backlot/contract/places'
import { withoutSession } from './environment.ts'
import { givenXServer } from './given-x-server.ts'
import { deadDesktops, folderName, thisProcess } from './owner.ts'
import type { PartName } from './part.ts'
import { firstToEnd, startParts } from './parts.ts'
import { markOf, startGuardian, sweep } from './processes/guardian.ts'
import { type DesktopProgram, startProgram } from './processes/program.ts'
import { findPrograms } from './programs.ts'
import { keepManager } from './window-manager/kept-window-manager.ts'
import type { WindowManagerName } from './window-manager/window-managers.ts'

/** What a desktop can be asked to be. */
export interface DesktopOptions {
  /** Pixels of the screen; 1280 by 800 when absent. */
  readonly size?: { readonly width: number; readonly height: number }
  /** Whether the X server offers OpenGL, at the price of 45 MB; false when absent. */
  readonly glx?: boolean
  /** A folder to which `startXServer` wrote what leads to the X server to take; one is started when absent. */
  readonly xServer?: string | undefined
  /** Its window manager; openbox, the only one configured by us, when absent. */
  readonly windowManager?: WindowManagerName
  /** Openbox's file of the menu that the root window shows at the right button; it has none when absent. */
  readonly menu?: string | undefined
  /** Variables from which places and the programs' environment are taken; those of this process when absent. */
  readonly environment?: Variables
  /**
   * Has the window manager started again where it ends by itself, with all windows as they were, and hears of it; without
   * this its end is the end of the desktop.
   */
  readonly managerDied?: (how: string, pauseMs: number) => void
  /** All that this process starts from then on is on the desktop, and ends with it; false when absent. */
  readonly ownsChildren?: boolean
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal
  /** Milliseconds until every part must be ready; 20,000 when absent. */
  readonly timeoutMs?: number
}

/** Why a desktop is over. */
export interface DesktopEnd {
  /** The part that ended by itself, or null where the desktop was disposed of. */
  readonly part: PartName | null
  /** How it ended: `status 1` or `signal SIGKILL`; empty where the desktop was disposed of. */
  readonly how: string
}

/** The failure of whoever still needs a desktop that is over. */
export const desktopLost = ({ part, how }: DesktopEnd): Failure =>
  new Failure(
    'desktop_lost',
    part === null
      ? 'The private desktop was ended. Start it again.'
      : `The ${part} of the private desktop ended with ${how}, and the desktop with it. Start it again.`,
    { part },
  )

/** A running desktop; disposing of it ends every process on it, and nothing of it stays. */
export interface PrivateDesktop extends AsyncDisposable {
  /** Such as `:5`. */
  readonly display: string
  /** The variables that lead a program to this desktop and mark it as belonging there, and no others. */
  readonly variables: Readonly<Record<string, string>>
  /** The whole environment for a program on this desktop; what has it ends with the desktop, and its descendants do. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Starts a program with this process's standard streams; settles when it runs. All that descends from it ends with the
   * desktop, also where it has left its parent, its session and its environment. Throws `desktop_lost`, `launch_failed`.
   */
  start(command: readonly [string, ...string[]]): Promise<DesktopProgram>
  /** Folder of mode 0700 with the desktop's sockets, configuration and logs; goes with it. */
  readonly folder: string
  /** The Unix socket at which VNC viewers see the screen (RFB); undefined where the X server is Xvfb. */
  readonly vncSocket: string | undefined
  /** Those of now. */
  readonly pids: Readonly<Record<PartName, number>>
  /**
   * Settles when the desktop is over and everything of it has been ended; the end of any part is the end of all, but for a
   * window manager that is started again.
   */
  readonly exited: Promise<DesktopEnd>
}

let count = 0

const newFolder = (runtime: string): string => {
  count += 1
  const folder = join(runtime, folderName(thisProcess(), count))
  const longest = join(folder, 'run', 'at-spi', 'bus_1000')
  if (Buffer.byteLength(longest) > longestSocketPath) {
    throw new Failure(
      'invalid_environment',
      `The folder "${runtime}" is too long for the sockets of a desktop, whose paths take at most ${longestSocketPath} bytes; set ${environment.home} to a shorter folder.`,
      { folder: runtime },
    )
  }
  return folder
}

/** Settles as `work` does, or throws when the time is over or the caller has had enough. */
const within = <T>(work: Promise<T>, timeoutMs: number, signal: AbortSignal | undefined): Promise<T> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const giveUp = () =>
    reject(
      new Failure(
        'desktop_not_started',
        `The private desktop was not ready after ${timeoutMs} ms; try again when the machine is less busy.`,
        { timeout_ms: timeoutMs },
      ),
    )
  const cancel = () =>
    reject(new Failure('cancelled', 'The start of the private desktop was cancelled; start it again.'))
  const timer = setTimeout(giveUp, timeoutMs)
  const cancelling = signal && addAbortListener(signal, cancel)
  return Promise.race([work, promise]).finally(() => {
    clearTimeout(timer)
    cancelling?.[Symbol.dispose]()
  })
}

/**
 * Starts a private desktop and settles when all its parts are ready.
 * Throws `missing_program`, `desktop_not_started`, `user_without_name`, `invalid_environment` or `cancelled`, and then
 * leaves nothing behind. Desktops of dead owners are ended on the way.
 */
export const startDesktop = async (options: DesktopOptions = {}): Promise<PrivateDesktop> => {
  const inherited = options.environment ?? process.env
  const timeoutMs = options.timeoutMs ?? privateDesktop.startTimeoutMs
  const programs = findPrograms(inherited.PATH ?? '/usr/local/bin:/usr/bin:/bin', options.windowManager)
  const xServer = options.xServer === undefined ? null : givenXServer(options.xServer)
  const { runtime } = placesOf(inherited)
  const swept = Promise.all(deadDesktops(runtime).map(sweep))
  const { folder, guardian } = await guardedFolder(runtime)
  if (xServer !== null) writeFileSync(join(folder, 'spared'), `${xServer.pid}\n`)
  const env = { ...withoutSession(inherited), [environment.desktop]: markOf(folder) }
  const size = options.size ?? privateDesktop.size
  const ending = new AbortController()
  const starting = startParts({
    programs,
    windowManager: options.windowManager ?? 'openbox',
    menu: options.menu,
    folder,
    env,
    size,
    glx: options.glx ?? false,
    xServer,
    timeoutMs,
    ending: ending.signal,
  })
  const running = await within(starting, timeoutMs, options.signal).catch(async (error: unknown) => {
    ending.abort()
    await guardian.end()
    throw error
  })
  await swept
  return desktopOf(running, { folder, env, guardian, ending, options })
}

/** A folder for a new desktop. Its guardian is there before the folder is, and removes that should this process die. */
const guardedFolder = async (runtime: string) => {
  const folder = newFolder(runtime)
  const guardian = startGuardian(folder)
  try {
    mkdirSync(join(folder, 'run'), { recursive: true, mode: 0o700 })
  } catch (error) {
    await guardian.end()
    throw error
  }
  return { folder, guardian }
}

/** What a desktop stands on. */
interface Started {
  readonly folder: string
  readonly env: Record<string, string>
  readonly guardian: ReturnType<typeof startGuardian>
  readonly ending: AbortController
  readonly options: DesktopOptions
}

/** The desktop of parts that run: watched, and ended with the first of them. */
const desktopOf = (
  {
    server,
    session,
    accessibility,
    manager,
    startManager,
    variables,
    vncSocket,
  }: Awaited<ReturnType<typeof startParts>>,
  { folder, env, guardian, ending, options }: Started,
): PrivateDesktop => {
  let over: Promise<DesktopEnd> | null = null
  const finish = (end: DesktopEnd): Promise<DesktopEnd> => {
    ending.abort()
    over ??= guardian.end(options.ownsChildren).then(() => end)
    return over
  }
  const { managerDied } = options
  const others = [server, session, accessibility]
  const kept =
    managerDied &&
    keepManager({ first: manager, start: startManager, others, ending: ending.signal, died: managerDied })
  // In the order in which they need each other.
  const parts = kept === undefined ? [server, session, manager, accessibility] : others
  const exited = firstToEnd(parts).then(finish)
  return {
    display: variables.DISPLAY,
    variables: { ...variables, [environment.desktop]: markOf(folder) },
    env: { ...env, ...variables },
    async start(command) {
      const program = await startProgram({ folder, command, env: { ...env, ...variables }, ending: ending.signal })
      if (program !== null) return program
      throw ending.signal.aborted ? desktopLost(await exited) : notStarted(command[0], folder)
    },
    folder,
    vncSocket,
    get pids() {
      const all = [...others, kept?.current ?? manager]
      return Object.fromEntries(all.map((part) => [part.name, part.pid])) as Record<PartName, number>
    },
    exited,
    async [Symbol.asyncDispose]() {
      const dead = parts.find((part) => !part.isAlive())
      await finish(dead === undefined ? { part: null, how: '' } : { part: dead.name, how: await dead.exited })
      await Promise.all([...parts.map((part) => part.exited), kept?.over])
    },
  }
}

const notStarted = (program: string, folder: string): Failure =>
  new Failure(
    'launch_failed',
    `"${program}" could not be started on the private desktop: "${folder}" takes no FIFO, or memory is short.`,
    { program },
  )
