/** What a private desktop leaves in the system, looked at from outside. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/** Pids of the living processes whose environment has that variable: `NAME=value`. */
export const processesWith = (variable: string): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable)
      } catch {
        return false
      }
    })

/** Pids of the living processes whose environment carries the desktop's mark. */
export const markedProcesses = (folder: string): number[] => processesWith(`BACKLOT_DESKTOP=${basename(folder)}`)

/** Paths of listening Unix sockets, abstract ones with `@` before them. */
export const listeningSockets = (): string[] => {
  const accepting = '00010000'
  return readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .map((line) => line.split(/\s+/))
    .flatMap((fields) => (fields[3] === accepting && fields[7] !== undefined ? [fields[7]] : []))
}

/** Names of a process's open files; none where it has ended. */
const openFiles = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`)
  } catch {
    return []
  }
}

/** Inodes of the sockets that a process holds. */
const socketInodes = (pid: number): Set<string> => {
  const inodes = new Set<string>()
  for (const fd of openFiles(pid)) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
      if (inode !== undefined) inodes.add(inode)
    } catch {}
  }
  return inodes
}

/** Whether a process listens on TCP, on any address. */
export const listensOnTcp = (pid: number): boolean => {
  const listening = '0A'
  const inodes = socketInodes(pid)
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .some((fields) => fields[3] === listening && inodes.has(String(fields[9])))
}

/** File of an X display's socket: `:5` has `/tmp/.X11-unix/X5`. */
export const xSocket = (display: string): string => `/tmp/.X11-unix/X${display.slice(1)}`

/** What is left of a desktop, in words; empty when nothing is. */
export const leftOf = (desktop: { readonly folder: string; readonly display: string }): string[] => [
  ...markedProcesses(desktop.folder).map((pid) => `process ${pid}`),
  ...(existsSync(desktop.folder) ? [`folder ${desktop.folder}`] : []),
  ...(existsSync(xSocket(desktop.display)) && !listeningSockets().includes(xSocket(desktop.display))
    ? [`socket ${xSocket(desktop.display)}`]
    : []),
]
