/** How scarce the machine's processors are. */
import { readFileSync } from 'node:fs'

/**
 * Milliseconds since the machine started in which a task waited for a processor, by the pressure stall information of the
 * kernel (`/proc/pressure/cpu`); 0 where it keeps none.
 */
export const stalledMs = (): number => {
  try {
    const [, total] = /^some .*total=(\d+)$/m.exec(readFileSync('/proc/pressure/cpu', 'utf8')) ?? []
    return Number(total ?? 0) / 1_000
  } catch {
    return 0
  }
}
