/** The window manager of a desktop, started again where it dies: the X server keeps the windows (X11, "ChangeSaveSet"). */
import { Failure } from '@backlot/contract/failure'
import type { DesktopProcess } from '../part.ts'
import { keepRestarting } from '../processes/keep-restarting.ts'

/** The window manager that runs, or the last one that did. */
export interface KeptManager {
  readonly current: DesktopProcess
  /** Settles when none is started any more. */
  readonly over: Promise<void>
}

/** What is needed to start one again. */
export interface KeepManagerOptions {
  readonly first: DesktopProcess
  start(): Promise<DesktopProcess>
  /** The parts without which there is nothing to manage. */
  readonly others: readonly DesktopProcess[]
  /** Aborts when the desktop ends. */
  readonly ending: AbortSignal
  died(how: string, pauseMs: number): void
}

/** Keeps one running as long as the desktop does. */
export const keepManager = ({ first, start, others, ending, died }: KeepManagerOptions): KeptManager => {
  let current = first
  let running: DesktopProcess | undefined = first
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  ending.addEventListener('abort', () => end(), { once: true })
  const life = async (): Promise<string | undefined> => {
    try {
      running ??= await start()
    } catch (error) {
      return Failure.from(error).message
    }
    current = running
    const how = await current.exited
    running = undefined
    return others.every((part) => part.isAlive()) ? how : undefined
  }
  return {
    get current() {
      return current
    },
    over: keepRestarting(life, ended, died),
  }
}
