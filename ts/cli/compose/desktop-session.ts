/** What a private desktop shows beside its windows: a menu, a picture, and programs that are kept running. */
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { keepRestarting, type PrivateDesktop } from '@backlot/headless'

/** A folder with the settings of a session. */
export interface DesktopSession {
  /** Openbox's file of the root window's menu. */
  readonly menu: string | undefined
  /** The PNG or JPEG behind the windows. */
  readonly wallpaper: string | undefined
  /** Programs without arguments, such as a panel. */
  readonly programs: readonly string[]
}

/** Reads `menu.xml`, `wallpaper.jpg` and `programs/` of a folder, each of which may be absent; throws `invalid_argument`. */
export const readSession = (folder: string): DesktopSession => {
  const at = (name: string): string | undefined => {
    const path = join(resolve(folder), name)
    return existsSync(path) ? path : undefined
  }
  if (at('.') === undefined) {
    throw new Failure('invalid_argument', `--session is "${folder}", which is no folder; give one with a menu.xml.`, {
      argument: 'session',
    })
  }
  const programs = at('programs')
  return {
    menu: at('menu.xml'),
    wallpaper: at('wallpaper.jpg'),
    programs: programs === undefined ? [] : executablesIn(programs),
  }
}

const executablesIn = (folder: string): string[] =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
    .toSorted()

/**
 * Keeps a program running as long as the desktop does. One that ends with status 0 is over; one that dies is started
 * again, after ever longer pauses.
 */
export const keepRunning = (desktop: PrivateDesktop, program: string, log: (line: string) => void): Promise<void> => {
  const life = async () => {
    // None is started where the desktop is over.
    const running = await desktop.start([program]).catch(() => undefined)
    const status = await running?.exited
    return status === undefined || status === 0 ? undefined : `status ${status}`
  }
  return keepRestarting(life, desktop.exited, (how, pauseMs) =>
    log(`session: ${program} ended with ${how}; it is started again in ${pauseMs} ms`),
  )
}
