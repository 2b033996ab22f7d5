/** The window managers that a private desktop can have. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { windowManagerCommand, windowManagerVariables } from './window-manager.ts'

/** How a window manager is started on a private desktop. */
interface WindowManager {
  /** Debian package that holds it. */
  readonly debianPackage: string
  /** Whether it needs the session bus: it is then started after it, and its settings lie in the desktop's folder. */
  readonly needsBus: boolean
  /** Writes its configuration under `folder` and gives the command; `menu` is openbox's file of the root window's menu. */
  command(program: string, folder: string, menu?: string): [string, ...string[]]
  /** Variables of the window manager alone, and of what is started from its menu. */
  variables(folder: string, menu?: string): Readonly<Record<string, string>>
}

/** Keeps what a window manager writes out of the person's settings. */
const ownSettings = (folder: string) => {
  const own = join(folder, 'settings')
  mkdirSync(own, { recursive: true })
  return { XDG_CONFIG_HOME: own, XDG_CACHE_HOME: own, XDG_DATA_HOME: own }
}

/** By the name of the program. */
export const windowManagers = {
  openbox: {
    debianPackage: 'openbox',
    needsBus: false,
    command: windowManagerCommand,
    variables: windowManagerVariables,
  },
  xfwm4: {
    debianPackage: 'xfwm4',
    needsBus: true,
    command: (program) => [program, '--compositor=off'],
    variables: ownSettings,
  },
  metacity: {
    debianPackage: 'metacity',
    needsBus: true,
    command: (program) => [program, '--sm-disable', '--compositor=none'],
    variables: ownSettings,
  },
  kwin_x11: {
    debianPackage: 'kwin-x11',
    needsBus: true,
    command: (program) => [program, '--no-kactivities'],
    variables: (folder) => ({ ...ownSettings(folder), KWIN_COMPOSE: 'N' }),
  },
} as const satisfies Record<string, WindowManager>

/** Name of a window manager. */
export type WindowManagerName = keyof typeof windowManagers

/** The names, the default first. */
export const windowManagerNames = Object.keys(windowManagers) as WindowManagerName[]

/** The row of a name. */
export const windowManagerOf = (name: WindowManagerName): WindowManager => windowManagers[name]
