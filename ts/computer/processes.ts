/** Ending all that belongs to a command: its session, what descends from it, and what carries its mark. */
import { readFile } from 'node:fs/promises'
import { allProcesses, type ProcStat } from '@backlot/native/proc-stat'

/** A variable by which what left its parent and its session is found. */
const markVariable = 'BACKLOT_COMMAND'

/** The variable to start a command with, of a value that no other has. */
export const newMark = (): Readonly<Record<string, string>> => ({ [markVariable]: crypto.randomUUID() })

/** The process, what descends from it, its session, and what carries the mark. */
const familyOf = async (root: number, mark: string, all: readonly ProcStat[]): Promise<Set<number>> => {
  const carries = await Promise.all(
    all.map(async ({ pid }) => (await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')).includes(mark)),
  )
  const isIts = ({ pid, session }: ProcStat, at: number) => pid === root || session === root || carries[at] === true
  const family = new Set(all.filter(isIts).map(({ pid }) => pid))
  for (;;) {
    const found = all.filter(({ pid, parent }) => !family.has(pid) && family.has(parent))
    if (found.length === 0) return family
    for (const { pid } of found) family.add(pid)
  }
}

/** Sends a signal to the leader of a session and to all that belongs to it, as far as it runs now. */
export const signalProcesses = async (
  root: number,
  mark: Readonly<Record<string, string>>,
  name: NodeJS.Signals,
): Promise<void> => {
  for (const pid of await familyOf(root, carriedBy(mark), allProcesses())) signal(pid, name)
}

const carriedBy = (mark: Readonly<Record<string, string>>): string => `${markVariable}=${mark[markVariable]}`

const endings = new Set<Promise<void>>()

/**
 * Ends with SIGKILL the leader of a session and all that belongs to it. They are halted first, so that none starts another
 * meanwhile. What left its parent and its session and emptied its environment too is not found.
 */
export const endProcesses = (root: number, mark: Readonly<Record<string, string>>): Promise<void> => {
  const ending = haltAndKill(root, mark).finally(() => endings.delete(ending))
  endings.add(ending)
  return ending
}

/** Settles when all that is being ended has: a server that went earlier would leave it halted for ever. */
export const allEnded = async (): Promise<void> => {
  while (endings.size > 0) await Promise.allSettled(endings)
}

const haltAndKill = async (root: number, mark: Readonly<Record<string, string>>): Promise<void> => {
  const carried = carriedBy(mark)
  const halted = new Set<number>()
  for (;;) {
    const family = await familyOf(root, carried, allProcesses())
    const fresh = [...family].filter((pid) => !halted.has(pid))
    if (fresh.length === 0) break
    for (const pid of fresh) {
      halted.add(pid)
      signal(pid, 'SIGSTOP')
    }
  }
  for (const pid of halted) signal(pid, 'SIGKILL')
}

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}
