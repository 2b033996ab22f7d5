/** The computer as a whole, and its programs. */
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { version } from '@backlot/contract/version'
import { hasEnded } from '@backlot/native/proc-stat'
import type { Handlers } from '../../backend.ts'
import { resolvePath } from '../../files/path.ts'
import type { Display } from './display.ts'
import { newWindow, windowsNow } from './new-window.ts'
import { openTarget } from './open.ts'
import { setWallpaper } from './wallpaper.ts'

/** The version of the protocol of commands, which clients read as a number. */
const protocol = 1

export const systemHandlers = (display: Display) =>
  ({
    version: async () => ({ protocol, package: version }),
    get_environment: async () => ({ environment: 'linux' }),
    async get_desktop_environment() {
      const environment = await desktopName(display)
      return { environment, desktop_environment: environment }
    },
    async set_wallpaper({ path }) {
      const file = resolvePath(path)
      const found = await stat(file).catch(() => undefined)
      if (found?.isFile() !== true) {
        throw new Failure('file_not_found', `There is no picture at "${file}"; give the path of a PNG or JPEG.`, {
          path: file,
        })
      }
      await setWallpaper(await desktopName(display), file, await display.desktop())
      return {}
    },
    open: async ({ target }) => ({ pid: await openTarget(target, await display.desktop()) }),
    async launch({ app, args = [], wait = 0 }, { signal }) {
      const desktop = await display.desktop()
      const before = await windowsNow(desktop)
      const pid = await desktop.start({ name: app, additional_arguments: args })
      const window_id = wait === 0 ? null : await newWindow(desktop, before, { pid, waitMs: wait * 1_000, signal })
      return { pid, window_id, running: !hasEnded(pid) }
    },
  }) satisfies Handlers

/** What the session calls itself, else the window manager's name. */
const desktopName = async (display: Display): Promise<string> => {
  const [named] = (process.env.XDG_CURRENT_DESKTOP ?? process.env.DESKTOP_SESSION ?? '').split(':')
  if (named !== undefined && named !== '') return basename(named).toLowerCase()
  const { window_manager } = await (await display.desktop()).probe()
  return window_manager?.toLowerCase() ?? 'unknown'
}
