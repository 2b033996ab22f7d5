/** An X server that is started before the desktop that is made on it, for who could not start it any more by then. */
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startTicksOf } from '@backlot/native/proc-stat'
import { readRegularFile } from '@backlot/native/regular-file'
import type { DesktopProcess } from './part.ts'
import { findPrograms } from './programs.ts'
import { xAuthority } from './x-cookie.ts'
import { showsScreen, xServerCommand } from './x-server.ts'

/** Of a file that says something of a server. */
const mostBytes = 4096

/** Files of the folder that leads to it. */
const fileNames = { authority: 'x-authority', server: 'x-server.json', vncSocket: 'vnc' } as const

/** What leads to a running X server. */
export interface GivenXServer {
  readonly number: string
  readonly authority: string
  readonly vncSocket: string | undefined
  readonly pid: number
  /** When it started, in clock ticks since the system did (proc(5)): its pid may be another's later. */
  readonly startTicks: number | null
}

interface Written {
  readonly number: string
  /** The process whose pid stands in the lock of the number. */
  readonly lock_pid: number
  /** Null until there is a server. */
  readonly pid: number | null
  readonly start_ticks: number | null
  readonly shows_screen: boolean
}

/** Numbers of displays that no server takes by itself. */
const numbers = { from: 1_000, to: 50_000 } as const

/** How often a number is tried that another server has. */
const mostTries = 20

/**
 * Starts an X server that ends with this process, whatever program that becomes, and writes to the folder, which belongs to
 * this user alone, what leads to it. It has no abstract socket: programs that are kept from those look for no other one.
 * Throws `missing_program` or `desktop_not_started`.
 */
export const startXServer = async (
  folder: string,
  size: { readonly width: number; readonly height: number },
): Promise<void> => {
  const { xServer } = findPrograms(process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin')
  const authority = join(folder, fileNames.authority)
  writeFileSync(authority, xAuthority(randomBytes(16)), { mode: 0o600 })
  const screen = { ...size, glx: false, authority, vncSocket: join(folder, fileNames.vncSocket) }
  let ending = 'found no free number'
  const note = (number: number, pid: number | null) => {
    const start_ticks = pid === null ? null : startTicksOf(pid)
    const server = {
      number: String(number),
      lock_pid: process.pid,
      pid,
      start_ticks,
      shows_screen: showsScreen(xServer),
    }
    writeFileSync(join(folder, fileNames.server), JSON.stringify(server satisfies Written))
  }
  for (let tries = 0; tries < mostTries; tries += 1) {
    const number = randomInt(numbers.from, numbers.to)
    // Before it is taken: a process that is killed meanwhile leaves who took it.
    note(number, null)
    if (!takeNumber(number)) continue
    const command = xServerCommand(xServer, { ...screen, number })
    const child = Bun.spawn(['setpriv', '--pdeathsig', 'TERM', '--', ...command], {
      cwd: '/',
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    note(number, child.pid)
    if (await saysNumber(child.stdout)) return
    ending = `ended with status ${await child.exited} before it was ready`
    releaseNumber(number, process.pid)
  }
  throw new Failure('desktop_not_started', `The X server ("${xServer}") ${ending}. Run it by hand to see why.`, {
    part: 'x_server',
    program: xServer,
  })
}

const lockOf = (number: number | string): string => `/tmp/.X${number}-lock`
const socketOf = (number: number | string): string => `/tmp/.X11-unix/X${number}`

/**
 * Takes the number of a display as servers do, by a file with a pid in ten places; a server with `-displayfd` does not.
 * False where another has it. Throws `desktop_not_started` where no such file can be written.
 */
const takeNumber = (number: number): boolean => {
  try {
    writeFileSync(lockOf(number), `${String(process.pid).padStart(10)}\n`, { flag: 'wx', mode: 0o444 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    const text = `The lock of a display cannot be written: ${(error as Error).message}. Make room in /tmp and let this user write there.`
    throw new Failure('desktop_not_started', text, { part: 'x_server', path: lockOf(number) })
  }
  if (!existsSync(socketOf(number))) return true
  rmSync(lockOf(number))
  return false
}

/** Gives it back, with the socket that a killed server leaves; nothing happens where it is not that process's. */
const releaseNumber = (number: number | string, pid: number): void => {
  try {
    if (Number(readRegularFile(lockOf(number), mostBytes)) !== pid) return
  } catch {
    return
  }
  rmSync(socketOf(number), { force: true })
  rmSync(lockOf(number), { force: true })
}

/** Whether a server takes clients, which it says by its number, before it ends. */
const saysNumber = async (stdout: ReadableStream<Uint8Array>): Promise<boolean> => {
  for await (const bytes of stdout) if (new TextDecoder().decode(bytes).includes('\n')) return true
  return false
}

const readServer = (folder: string): Written | null => {
  try {
    return JSON.parse(readRegularFile(join(folder, fileNames.server), mostBytes)) as Written
  } catch {
    return null
  }
}

/** The X server that a folder leads to; throws `desktop_not_started`. */
export const givenXServer = (folder: string): GivenXServer => {
  const server = readServer(folder)
  if (server?.pid == null) {
    const text = `Nothing in "${folder}" leads to an X server. Start one first.`
    throw new Failure('desktop_not_started', text, { folder })
  }
  const vncSocket = server.shows_screen ? join(folder, fileNames.vncSocket) : undefined
  const { number, pid, start_ticks: startTicks } = server
  return { number, pid, startTicks, authority: join(folder, fileNames.authority), vncSocket }
}

/** Milliseconds that a server has to end by itself. */
const endingMs = 2_000

/**
 * Ends the X server that a folder leads to, where it still runs, and gives its number back. The programs on its display may
 * write to the folder: no process is ended that is not a server with the folder's key, and no number of another kind given back.
 */
export const endXServer = async (folder: string): Promise<void> => {
  const server = readServer(folder)
  if (server === null) return
  const { number, lock_pid, pid, start_ticks } = server
  if (pid !== null && start_ticks !== null && isServerOf(folder, pid)) await endProcess(pid, start_ticks)
  if (/^\d+$/.test(number) && Number(number) >= numbers.from) releaseNumber(number, lock_pid)
}

/** Whether the arguments of a process name the folder's key (proc(5), `/proc/PID/cmdline`). */
const isServerOf = (folder: string, pid: number): boolean => {
  try {
    const words = readFileSync(`/proc/${Number(pid)}/cmdline`, 'utf8').split('\0')
    return words.includes(join(folder, fileNames.authority))
  } catch {
    return false
  }
}

const endProcess = async (pid: number, startTicks: number): Promise<void> => {
  const deadline = performance.now() + endingMs
  const send = (name: NodeJS.Signals) => {
    try {
      if (startTicksOf(pid) === startTicks) process.kill(pid, name)
    } catch {
      // It has ended meanwhile.
    }
  }
  // One that was halted takes the signal when it goes on.
  for (const name of ['SIGTERM', 'SIGCONT'] as const) send(name)
  while (startTicksOf(pid) === startTicks) {
    if (performance.now() > deadline) send('SIGKILL')
    await Bun.sleep(5)
  }
}

/** Milliseconds between two looks at a server that is nobody's child here. */
const pollIntervalMs = 500

/** The server as a part of a desktop; what it is of ends when `ending` aborts, and it does not. */
export const partOf = ({ pid, startTicks }: GivenXServer, ending: AbortSignal): DesktopProcess => {
  const isAlive = () => startTicks !== null && startTicksOf(pid) === startTicks
  const stopped = new Promise<void>((settle) => ending.addEventListener('abort', () => settle(), { once: true }))
  const watch = async () => {
    while (!ending.aborted && isAlive()) await Promise.race([Bun.sleep(pollIntervalMs), stopped])
    return 'a status that is not told'
  }
  const exited = watch()
  const failed = exited.then(
    () => new Failure('desktop_not_started', 'The X server has ended. Start the sandbox again.', { part: 'x_server' }),
  )
  return { name: 'x_server', pid, exited, failed, isAlive, line: async () => Promise.reject(await failed) }
}
