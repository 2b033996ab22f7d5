/** The processes of sandboxes, told from all others, and halted together. */

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { thisProcess } from '@backlot/headless'
import { bootId } from '@backlot/native/machine'
import { allProcesses, hasEnded, type ProcStat, procStat, startTicksOf } from '@backlot/native/proc-stat'
import type { ProcessRecord, RunRecord } from './state/record.ts'

/** What a run record of this process as supervisor begins with. */
export const supervisedHere = (): Pick<RunRecord, 'boot' | 'namespace' | 'supervisor'> => {
  const { namespace, pid, startTicks } = thisProcess()
  return { boot: bootId(), namespace, supervisor: { pid, start_ticks: startTicks } }
}

/** Whether the pids of a record count here: not after a restart, nor in another container with the same files. */
export const areSamePids = ({ boot, namespace }: Pick<RunRecord, 'boot' | 'namespace'>): boolean =>
  boot === bootId() && namespace === thisProcess().namespace

/** Whether it is a record of another pid namespace of this boot, whose processes nobody here can judge. */
export const isElsewhere = ({ boot, namespace }: Pick<RunRecord, 'boot' | 'namespace'>): boolean =>
  boot === bootId() && namespace !== thisProcess().namespace

/** Whether the recorded process lives. */
export const isAlive = ({ pid, start_ticks }: ProcessRecord): boolean => startTicksOf(pid) === start_ticks

/** The record of a living process; null where it has ended. */
export const processRecord = (pid: number): ProcessRecord | null => {
  const ticks = startTicksOf(pid)
  return ticks === null ? null : { pid, start_ticks: ticks }
}

/** Inode of a process's pid namespace, or null where this user may not know it. */
export const pidNamespaceOf = (pid: number): number | null => {
  try {
    return Number(/\d+/.exec(readlinkSync(`/proc/${pid}/ns/pid`))?.[0])
  } catch {
    return null
  }
}

/** Sends a signal to a recorded process where it lives. */
export const signal = (record: ProcessRecord, name: NodeJS.Signals): void => {
  if (!isAlive(record)) return
  try {
    process.kill(record.pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The process that has started another one, or 0 where that has ended. */
export const parentOf = (pid: number): number => procStat(pid)?.parent ?? 0

/** The first process of a namespace and all in it: orphans become its children. */
const family = (init: number): ProcStat[] => {
  const all = allProcesses()
  const known = new Set([init])
  for (let before = 0; before !== known.size; ) {
    before = known.size
    for (const { pid, parent } of all) if (known.has(parent)) known.add(pid)
  }
  return all.filter(({ pid }) => known.has(pid))
}

/**
 * Whether a process runs no more. Where its child was halted between vfork(2) and execve(2) it cannot take the signal,
 * and stays in its uninterruptible wait until that child goes on.
 */
const isHalted = ({ pid, state }: ProcStat, among: readonly ProcStat[]): boolean =>
  /[TtZX]/.test(state) || (state === 'D' && among.some((child) => child.parent === pid && /[Tt]/.test(child.state)))

/** Whether all processes of a sandbox are halted, told by its first one, which is halted last. */
export const isFrozen = ({ pid }: ProcessRecord): boolean => /[Tt]/.test(procStat(pid)?.state ?? '')

const send = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {}
}

/** Looks at most, each of which may meet processes that were started since the one before. */
const mostLooks = 500

/** Halts all processes of a sandbox; gives whether none runs any more. */
export const freeze = async (init: ProcessRecord): Promise<boolean> => {
  for (let look = 0; look < mostLooks && isAlive(init); look += 1) {
    const all = family(init.pid)
    const running = all.filter((each) => each.pid !== init.pid && !isHalted(each, all))
    if (running.length === 0) {
      // Nobody is left to start another one.
      send(init.pid, 'SIGSTOP')
      while (isAlive(init) && !isFrozen(init)) await Bun.sleep(1)
      return isAlive(init)
    }
    for (const { pid } of running) send(pid, 'SIGSTOP')
    await Bun.sleep(1)
  }
  thaw(init)
  return false
}

/** Halts all programs of a sandbox; throws `sandbox_busy`. */
export const haltPrograms = async (name: string, init: ProcessRecord): Promise<void> => {
  if (await freeze(init)) return
  throw new Failure(
    'sandbox_busy',
    `The programs of "${name}" start others faster than they can be halted, or have just ended; try again.`,
    { name },
  )
}

/** Lets all processes of a sandbox run again. */
export const thaw = (init: ProcessRecord): void => {
  if (!isAlive(init)) return
  send(init.pid, 'SIGCONT')
  for (const { pid } of family(init.pid)) send(pid, 'SIGCONT')
}

/** Whether nothing of a recorded process is left but its name: the first of a namespace goes when all others have. */
const hasGone = ({ pid, start_ticks }: ProcessRecord): boolean => hasEnded(pid, start_ticks)

const hasWord = (pid: string, word: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(word)
  } catch {
    return false
  }
}

/**
 * Ends what a run has left that was killed while bwrap made its namespaces: where bwrap dies in the middle of that, the
 * process in them waits for it for ever.
 */
const endUnfinished = async ({ mark }: RunRecord): Promise<void> => {
  for (;;) {
    const left = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry) && hasWord(entry, mark))
    if (left.length === 0) return
    for (const pid of left) send(Number(pid), 'SIGKILL')
    await Bun.sleep(1)
  }
}

/** Milliseconds that a sandbox without a namespace of its own has to end by itself, and to remove what it has in `/tmp`. */
const endingMs = 5_000

/** Ends a sandbox that has no namespace of its own: by its server, else all at once. */
const endFamily = async (init: ProcessRecord): Promise<void> => {
  const deadline = performance.now() + endingMs
  thaw(init)
  signal(init, 'SIGTERM')
  while (!hasGone(init) && performance.now() < deadline) await Bun.sleep(5)
  if (hasGone(init)) return
  // Halted, none starts another one that would be missed.
  await freeze(init)
  for (const { pid } of family(init.pid)) send(pid, 'SIGKILL')
  while (!hasGone(init)) await Bun.sleep(1)
}

/** Ends all processes of a sandbox, and settles when they have: the kernel ends a pid namespace with its first process. */
export const endNamespace = async (run: RunRecord): Promise<void> => {
  const { init } = run
  if (init === null) return endUnfinished(run)
  if (init.namespace === run.namespace) return endFamily(init)
  const namespace = pidNamespaceOf(init.pid)
  if (namespace !== null && namespace !== init.namespace) return
  signal(init, 'SIGKILL')
  while (!hasGone(init)) await Bun.sleep(1)
}
