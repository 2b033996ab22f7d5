/** The host of the VMs of one home, as the machine tells of it: its processes and its socket. */
import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds that a boot may take under emulation, on a machine with other work. */
export const bootMs = 180_000
/** A machine for the image that tests boot. */
export const size = { cpu: 1, memoryMb: 512, diskGb: 1 } as const

/** The processes with a word in their arguments. */
export const withWord = (word: string): { pid: number; words: string }[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return words.includes(word) ? [{ pid: Number(pid), words }] : []
      } catch {
        return []
      }
    })

/** The socket of the host of a home, as its process was told. */
export const socketOf = (home: string): string => {
  const [found] = withWord('--idle-seconds').filter(({ words }) => words.includes(home))
  return /\0unix:([^\0]+)\0/.exec(found?.words ?? '')?.[1] ?? ''
}

/** Ends the processes with a word in their arguments, such as the folder of a test. */
export const killAll = (word: string): void => {
  for (const { pid } of withWord(word)) process.kill(pid, 'SIGKILL')
}
