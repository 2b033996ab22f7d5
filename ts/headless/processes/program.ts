/** A program that the desktop's owner starts, with everything that descends from it. */
import { constants } from 'node:os'
import { startTicksOf } from '@backlot/native/proc-stat'
import { type DescendantOptions, startDescendant } from './descendant.ts'

/** A program on a desktop. */
export interface DesktopProgram {
  readonly pid: number
  /** Settles when it has ended, with its status as a shell gives it: 128 + N where signal N ended it. */
  readonly exited: Promise<number>
  /** Sends it a signal; nothing happens where it has ended. */
  kill(signal: NodeJS.Signals): void
}

/** Starts a program with this process's standard streams; settles when it runs, with null where the desktop ends before. */
export const startProgram = async (options: Omit<DescendantOptions, 'part'>): Promise<DesktopProgram | null> => {
  const started = await startDescendant(options)
  if (started === null) return null
  const { pid } = started
  let isOver = false
  const exited = started.exited.then((status) => {
    isOver = true
    return status ?? 128 + constants.signals.SIGKILL
  })
  return {
    pid,
    exited,
    kill(signal) {
      if (!isOver && startTicksOf(pid) !== null) process.kill(pid, signal)
    },
  }
}
