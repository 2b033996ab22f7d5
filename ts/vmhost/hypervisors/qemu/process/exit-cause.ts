/** Why a QEMU ended, from what it said and what was asked of it. */
import type { Ending } from '@backlot/contract/vmhost/vm'

/** What was seen of it before. */
export interface ProcessHistory {
  /** This service ended it. */
  killed: boolean
  /** This service asked the guest to shut down. */
  asked: boolean
  /** Its memory was saved before. */
  saved?: boolean
  /** The reason of its last SHUTDOWN event (QMP, ShutdownCause), or `guest-panic`. */
  reason?: string
}

const reasons: Readonly<Record<string, Pick<Ending, 'cause' | 'expected'>>> = {
  'guest-shutdown': { cause: 'The guest shut down.', expected: true },
  'guest-panic': { cause: 'The kernel of the guest panicked.', expected: false },
  'host-qmp-quit': { cause: 'Its hypervisor was told to quit.', expected: true },
  'host-signal': { cause: 'Its hypervisor was ended by a signal from outside.', expected: false },
  'host-ui': { cause: 'Its hypervisor was closed.', expected: true },
}

/** The ending; `exit` is how the process ended, where that is known, `log` what it wrote. */
export const endingOf = (seen: ProcessHistory, exit: string | undefined, log: string): Ending => {
  const at = new Date().toISOString()
  if (seen.saved) return { cause: 'It was suspended.', expected: true, at }
  if (seen.killed) return { cause: 'It was stopped by force.', expected: true, at }
  const known = seen.reason === undefined ? undefined : reasons[seen.reason]
  if (known !== undefined) {
    return seen.asked && known.expected
      ? { cause: 'It was asked to shut down, and did.', expected: true, at }
      : { ...known, at }
  }
  const last = lastLines(log, 1)[0]
  const how = exit ?? 'nobody saw how'
  return {
    cause: `Its hypervisor ended unexpectedly (${how})${last === undefined ? '' : `: ${last}`}`,
    expected: false,
    at,
  }
}

/** The last lines of a text, the empty ones left out. */
export const lastLines = (text: string, most: number): string[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-most)
