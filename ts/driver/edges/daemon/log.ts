/** The daemon's log file, one for each display, kept within its bound. */
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { driverName } from '@backlot/contract/display'
import { daemon } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'

/** Where the daemon of a display logs when a client started it. */
export const logPath = (display: string): string => `${placesOf(process.env).state}/${driverName(display)}.log`

/** Opens the log for a daemon that is about to be started; a file over the bound keeps its newer half. */
export const openLog = (display: string) => {
  const path = logPath(display)
  mkdirSync(placesOf(process.env).state, { recursive: true, mode: 0o700 })
  if (existsSync(path) && statSync(path).size > daemon.logBytes) {
    writeFileSync(path, newerHalf(path))
  }
  const descriptor = openSync(path, 'a', 0o600)
  chmodSync(path, 0o600)
  const { size } = fstatSync(descriptor)
  return {
    path,
    descriptor,
    close: () => closeSync(descriptor),
    /** Whether what was written since it was opened tells of another daemon. */
    saysAlreadyRunning: () => readFileSync(path).subarray(size).includes('already running'),
  }
}

/** What stays of a log that is over its bound: whole lines, the newest. */
const newerHalf = (path: string): Buffer => {
  const half = readFileSync(path).subarray(-daemon.logBytes / 2)
  return half.subarray(half.indexOf('\n') + 1)
}

/** Writes one line with its time on standard error, which is the log of a daemon that a client started. */
export const log = (text: string): void => {
  try {
    const stats = fstatSync(2)
    if (stats.isFile() && stats.size > daemon.logBytes) {
      // It is open for writing alone; what is written goes to its end, wherever that is.
      const kept = newerHalf('/proc/self/fd/2')
      ftruncateSync(2, 0)
      writeSync(2, kept)
    }
    writeSync(2, `${new Date().toISOString()} ${text}\n`)
  } catch {
    // A log that cannot be written must not end the daemon.
  }
}
