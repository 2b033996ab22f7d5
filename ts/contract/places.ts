/** Where Backlot keeps its files: the XDG base folders, each with a `backlot` folder, or all under `BACKLOT_HOME`. */

import { Failure } from './failure.ts'
import { environment } from './limits.ts'

/** Absolute folders; none of them need exist yet. */
export interface Directories {
  /** What the person decided. */
  readonly config: string
  /** What must not be lost: VM homes, recordings. */
  readonly data: string
  /** What can be fetched or made again. */
  readonly cache: string
  /** Logs and what a program remembers between two runs. */
  readonly state: string
  /** Sockets and locks; belongs to the user alone and must be made with mode 0700. */
  readonly runtime: string
}

/** Environment variables by name, as a process has them; one that is absent is undefined. */
export type Variables = Readonly<Record<string, string | undefined>>

const isAbsolute = (path: string): boolean => /^(?:\/|[A-Za-z]:[\\/])/.test(path)

/**
 * Reads the folders off an environment, after the XDG Base Directory Specification 0.8: relative values are ignored,
 * and without `XDG_RUNTIME_DIR` sockets stand in the state folder, where nobody else can have put one.
 * Throws `invalid_environment` where `BACKLOT_HOME` is relative or no home folder is known.
 */
export const placesOf = (env: Variables): Directories => {
  const moved = env[environment.home]
  if (moved !== undefined && moved !== '') {
    if (!isAbsolute(moved)) {
      throw new Failure(
        'invalid_environment',
        `${environment.home} is "${moved}", which is not an absolute path; set it to one.`,
        { variable: environment.home },
      )
    }
    const base = moved.replace(/[\\/]+$/, '')
    const under = (name: keyof Directories) => `${base}/${name}`
    return {
      config: under('config'),
      data: under('data'),
      cache: under('cache'),
      state: under('state'),
      runtime: under('runtime'),
    }
  }
  const xdg = (variable: string, usual: string): string => {
    const value = env[variable]
    if (value !== undefined && isAbsolute(value)) return `${value}/backlot`
    return `${homeOf(env)}/${usual}/backlot`
  }
  const state = xdg('XDG_STATE_HOME', '.local/state')
  const runtime = env.XDG_RUNTIME_DIR
  return {
    config: xdg('XDG_CONFIG_HOME', '.config'),
    data: xdg('XDG_DATA_HOME', '.local/share'),
    cache: xdg('XDG_CACHE_HOME', '.cache'),
    state,
    runtime: runtime !== undefined && isAbsolute(runtime) ? `${runtime}/backlot` : `${state}/run`,
  }
}

/** The person's home folder, absolute; throws `invalid_environment` where the environment names none. */
export const homeOf = (env: Variables): string => {
  const home = env.HOME ?? env.USERPROFILE
  if (home === undefined || !isAbsolute(home)) {
    throw new Failure(
      'invalid_environment',
      `HOME is ${home === undefined ? 'not set' : `"${home}"`}; set it to the absolute path of your home folder, or set ${environment.home}.`,
      { variable: 'HOME' },
    )
  }
  return home
}
