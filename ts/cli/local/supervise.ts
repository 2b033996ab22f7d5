/** The process that looks after one sandbox: it starts it, waits for what ends it, and ends it. */
import { Failure } from '@backlot/contract/failure'
import {
  type MadeSandbox,
  markWhole,
  type SandboxFolder,
  type SandboxInfo,
  type SandboxRecord,
  startSandbox,
  tryLock,
} from '@backlot/local'
import { executableForSandboxes } from '../compose/local.ts'

/** What a supervisor is told. */
export interface Supervision {
  readonly made: Pick<MadeSandbox, 'folder' | 'record'>
  readonly timeoutMs: number
  /** Settles when who it belongs to wants it to end, or is dead. */
  readonly ending: Promise<unknown>
  /** Whether who started it is still there, and wants it, when it is ready. */
  isWanted(info: SandboxInfo): Promise<boolean>
  /** Tells that it is there, from when on nobody undoes its start. */
  announce(info: SandboxInfo): Promise<void>
}

/** Looks after a sandbox from its start to its end; throws where it does not start. */
export const supervise = async (supervision: Supervision): Promise<void> => {
  const { made, timeoutMs, ending, isWanted, announce } = supervision
  const { folder, record } = made
  const stop = new AbortController()
  const abort = () => stop.abort()
  void ending.then(abort, abort)
  const executable = await executableForSandboxes()
  const running = await startSandbox({ folder, record, executable, timeoutMs, signal: stop.signal })
  try {
    if (!(await isWanted(running.info))) return
    if (!record.is_whole) markWhole(made, running.info)
    await announce(running.info)
    const over = await Promise.race([running.ended, ending.then(() => 'asked'), expiry(record)])
    if (over === 'expired' || record.ephemeral) {
      await running[Symbol.asyncDispose]()
      await removeUnlessHeld(folder)
    }
  } finally {
    await running[Symbol.asyncDispose]()
  }
}

/** Removes a sandbox that has ended; who holds its lock deletes it, or leaves it to whoever looks next. */
export const removeUnlessHeld = async (folder: SandboxFolder): Promise<void> => {
  const lock = await tryLock(folder)
  if (lock === null) return
  try {
    await folder.remove()
  } finally {
    lock.release()
  }
}

/** The longest time that a timer takes. */
const longestMs = 2 ** 31 - 1

/** Settles when the time of a sandbox is over. */
export const expiry = async ({ expires_at }: SandboxRecord): Promise<'expired'> => {
  if (expires_at === null) return new Promise<never>(() => {})
  for (;;) {
    const left = Date.parse(expires_at) - Date.now()
    if (left <= 0) return 'expired'
    await Bun.sleep(Math.min(left, longestMs))
  }
}

/** Settles when the process is told to end by a signal. */
export const signalled = (names: readonly NodeJS.Signals[]): Promise<string> =>
  new Promise((settle) => {
    for (const name of names) process.on(name, () => settle(name))
  })

/** Settles at the end of standard input, where that is a pipe: who holds its other end has gone. */
export const inputEnds = async (isPipe: boolean): Promise<void> => {
  if (!isPipe) return new Promise<never>(() => {})
  for await (const _ of Bun.stdin.stream()) {
    // What comes is of no interest.
  }
}

/** What a line of JSON tells of a failure. */
export type FailureLine = ReturnType<typeof failureLine>['error']

/** A failure as one line of JSON, for a program. */
export const failureLine = (error: unknown) => {
  const { code, message, data } = Failure.from(error)
  return { error: { code, message, data } }
}
