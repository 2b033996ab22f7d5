/**
 * The private desktop of a computer server, and the next one where it ends by itself. A window manager that dies is started
 * again on the same desktop. X server, session bus and accessibility bus are not: programs lose the first two for good, and
 * those that run would have no accessibility tree on a new third.
 */
import { type DesktopEnd, foreignVariables, keepRestarting, type PrivateDesktop, startDesktop } from '@backlot/headless'
import { enterEnvironment } from '@backlot/native'

export interface ServedDesktopsOptions {
  /** Pixels of the screen. */
  readonly size: { readonly width: number; readonly height: number }
  /** Openbox's file of the root window's menu. */
  readonly menu: string | undefined
  /** A folder that leads to the X server to take; each desktop starts one of its own when absent. */
  readonly xServer: string | undefined
  /** A desktop is ready, and this process is on it. */
  begin(desktop: PrivateDesktop): Promise<void>
  /** It is over, and all of it has ended; another follows. */
  end(why: string): Promise<void>
  log(line: string): void
}

/** Desktops, one after another; disposing of them ends the one of now, and no other follows. */
export interface ServedDesktops extends AsyncDisposable {
  /** Rejects where the first did not start. */
  readonly failed: Promise<never>
}

/** Starts the first. */
export const serveDesktops = ({ size, menu, xServer, begin, end, log }: ServedDesktopsOptions): ServedDesktops => {
  // What this process was started with: its own variables become those of the desktop.
  const environment = { ...process.env }
  const stop = new AbortController()
  const stopped = new Promise<void>((settle) => stop.signal.addEventListener('abort', () => settle(), { once: true }))
  const { promise: failed, reject: fail } = Promise.withResolvers<never>()
  failed.catch(() => undefined)
  let isFirst = true
  const managerDied = (how: string, pauseMs: number) =>
    log(`desktop: the window manager ended with ${how}; it is started again in ${pauseMs} ms`)

  const serve = async (): Promise<string | undefined> => {
    const options = { size, menu, xServer, environment, managerDied, ownsChildren: true, signal: stop.signal }
    await using desktop = await startDesktop(options)
    isFirst = false
    enter(desktop)
    await begin(desktop)
    await Promise.race([desktop.exited, stopped])
    if (stop.signal.aborted) return undefined
    const why = whyOf(await desktop.exited)
    await end(`${why}; a new desktop starts`)
    return why
  }
  const life = async (): Promise<string | undefined> => {
    try {
      return await serve()
    } catch (error) {
      if (stop.signal.aborted) return undefined
      if (isFirst) {
        fail(error)
        return undefined
      }
      return (error as Error).message
    }
  }
  const over = keepRestarting(life, stopped, (why, pauseMs) =>
    log(`desktop: ${why}; a new one is started in ${pauseMs} ms`),
  )
  return {
    failed,
    async [Symbol.asyncDispose]() {
      stop.abort()
      await over
    },
  }
}

/** The screen of a desktop of ours, which the view shows; undefined where its X server is no VNC server. */
export const screenOf = (desktop: PrivateDesktop | undefined) =>
  desktop?.vncSocket === undefined ? undefined : { unix: desktop.vncSocket }

const whyOf = ({ part, how }: DesktopEnd): string => `the ${part} of the desktop ended with ${how}`

/** From here on this process and what it starts are on the desktop, with a locale where there was none. */
const enter = ({ variables: own, env: { LANG } }: PrivateDesktop): void => {
  const variables = LANG === undefined ? own : { ...own, LANG }
  // What the desktop has too is set, not removed: it may be read meanwhile.
  const foreign = foreignVariables(process.env).filter((name) => !Object.hasOwn(variables, name))
  enterEnvironment({ ...variables }, foreign)
  for (const name of foreign) delete process.env[name]
  Object.assign(process.env, variables)
}
