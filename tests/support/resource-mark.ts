/**
 * Which processes descend from one, seen through a resource limit that nobody else has: it goes to every descendant, and
 * nothing that a program does to its environment, its session or its parent changes it.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** The words that run a command under the mark: a number of bytes of POSIX message queues, below the usual 819,200. */
export const markedCommand = (mark: number, command: readonly string[]): [string, ...string[]] => [
  'prlimit',
  `--msgqueue=${mark}:${mark}`,
  ...command,
]

const textOf = (pid: string, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** A process whose first thread has ended lives as long as others do. */
const hasEnded = (pid: string): boolean => {
  const status = textOf(pid, 'status')
  return /^State:\s[ZX]/m.test(status) && !/^Threads:\s([2-9]|\d\d)/m.test(status)
}

/** The living processes under the mark: pid, parent and command line. One look may miss who starts another and ends. */
export const processesMarked = (mark: number): string[] => {
  for (let look = 1; look < 5; look += 1) {
    const seen = lookFor(mark)
    if (seen.length > 0) return seen
  }
  return lookFor(mark)
}

const lookFor = (mark: number): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => new RegExp(`^Max msgqueue size\\s+${mark}\\s`, 'm').test(textOf(pid, 'limits')) && !hasEnded(pid))
    .map((pid) => {
      const parent = /^PPid:\s(\d+)/m.exec(textOf(pid, 'status'))?.[1]
      return `process ${pid} of ${parent}: ${textOf(pid, 'cmdline').slice(0, 120) || textOf(pid, 'comm').trim()}`
    })
