/** The programs that a desktop is made of, and the Debian packages they come in. */
import { accessSync, constants } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { type WindowManagerName, windowManagerOf } from './window-manager/window-managers.ts'

/** A program by the names and places it is known under, the best first. */
interface Program {
  readonly candidates: readonly [string, ...string[]]
  /** Debian package of the first candidate. */
  readonly debianPackage: string
}

const table = {
  xServer: { candidates: ['Xtigervnc', 'Xvnc', 'Xvfb'], debianPackage: 'tigervnc-standalone-server' },
  sessionBus: { candidates: ['dbus-daemon'], debianPackage: 'dbus' },
  accessibilityBus: {
    candidates: [
      '/usr/libexec/at-spi-bus-launcher',
      '/usr/lib/at-spi2-core/at-spi-bus-launcher',
      '/usr/lib/at-spi-bus-launcher',
    ],
    debianPackage: 'at-spi2-core',
  },
  busClient: { candidates: ['gdbus'], debianPackage: 'libglib2.0-bin' },
} satisfies Record<string, Program>

/** Absolute path of each program. */
export type Programs = Readonly<Record<keyof typeof table | 'windowManager', string> & { xprop?: string }>

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const find = (candidates: readonly string[], path: string): string | undefined =>
  candidates
    .map((name) => (name.startsWith('/') ? (isExecutable(name) ? name : null) : Bun.which(name, { PATH: path })))
    .find((found) => found !== null) ?? undefined

/**
 * Finds every program on `path`, a list as in `PATH`, with the named window manager (openbox when absent); throws
 * `missing_program` naming all that are absent.
 */
export const findPrograms = (path: string, windowManager: WindowManagerName = 'openbox'): Programs => {
  const { debianPackage, needsBus } = windowManagerOf(windowManager)
  const wanted: Record<string, Program> = {
    ...table,
    windowManager: { candidates: [windowManager], debianPackage },
    // Only openbox says by itself that it is ready.
    ...(needsBus && { xprop: { candidates: ['xprop'], debianPackage: 'x11-utils' } }),
  }
  const found = Object.entries(wanted).map(([key, program]) => [key, program, find(program.candidates, path)] as const)
  const missing = found.filter(([, , file]) => file === undefined).map(([, program]) => program)
  if (missing.length > 0) {
    const names = missing.map(({ candidates }) => `"${candidates[0]}"`).join(', ')
    const packages = missing.map((program) => program.debianPackage)
    throw new Failure(
      'missing_program',
      `A private desktop needs ${names}, not installed here; on Debian and Ubuntu run: apt-get install ${packages.join(' ')}`,
      { programs: missing.map(({ candidates }) => candidates[0]), packages },
    )
  }
  return Object.fromEntries(found.map(([key, , file]) => [key, file])) as Programs
}
