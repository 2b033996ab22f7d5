/** How many sandboxes may wait, by the memory that is free. */
import { memoryBytes } from '@backlot/native/machine'

/** Mebibytes that one that waits takes, with its supervisor, and those that stay free for all else. */
const eachMb = 128
const spareMb = 512

/** How many sandboxes a pool is to keep ready where nobody says. */
const usualSize = 4

/** What was decided, and why. */
export interface PoolSize {
  readonly size: number
  /** A sentence where memory allows fewer than were asked for; else null. */
  readonly reason: string | null
}

const availableMb = (): number => memoryBytes('MemAvailable') / 1024 ** 2

/** Decides how many may wait, beside so many that do already. */
export const sizeByMemory = (asked: number | null, waiting = 0, freeMb = availableMb()): PoolSize => {
  const wanted = asked ?? usualSize
  const room = waiting + Math.max(0, Math.floor((freeMb - spareMb) / eachMb))
  if (room >= wanted) return { size: wanted, reason: null }
  const why = `${Math.round(freeMb)} MiB of memory are free, of which ${spareMb} stay so, and each takes ${eachMb}`
  return { size: room, reason: `It keeps ${room} rather than ${wanted}: ${why}.` }
}
