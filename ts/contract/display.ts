/** The display that the environment names, and the names of what belongs to it. */

import { placesOf, type Variables } from './places.ts'

/** `$DISPLAY` without the screen number and the host names of this machine: `unix:1.0` is `:1`; empty without a display. */
export const displayName = (env: Variables): string =>
  (env.DISPLAY ?? '').replace(/^(?:unix|localhost\/unix)(?=:)/, '').replace(/(:\d+)\.\d+$/, '$1')

/** Name of the files that belong to the drivers of a display. */
export const driverName = (display: string): string =>
  display === '' ? 'driver-no-display' : `driver-${display.replace(/^:/, '').replace(/[^A-Za-z0-9._-]/g, '_')}`

/** The file that stands as long as the person has paused the drivers of the environment's display. */
export const pauseFileOf = (env: Variables): string => `${placesOf(env).runtime}/${driverName(displayName(env))}.paused`
