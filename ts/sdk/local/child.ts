/** The `backlot computer` process of a local transport. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orAborted } from '../deadline.ts'
import { UnavailableError } from '../errors.ts'
import { findExecutable } from './executable.ts'

/** A running one. */
export interface LocalServer {
  /** Path of its socket, in a folder that only this user may enter. */
  readonly socket: string
  readonly pid: number
  /** Settles with how it ended. */
  readonly ended: Promise<string>
  /** Ends it and all that it started. */
  end(): Promise<void>
}

/** Characters of what it wrote that an error tells. */
const shownLength = 2_000

/** Milliseconds that it has to end by itself. */
const endingMs = 5_000

/**
 * Starts one that ends with this program, however that ends: its standard input is a pipe from here, at whose end it ends too.
 * It does not keep this program from ending.
 */
export const startLocalServer = async (display: string | undefined, signal: AbortSignal): Promise<LocalServer> => {
  const program = await findExecutable()
  const folder = await makeFolder()
  const socket = join(folder, 'computer')
  const child = spawn(program, ['computer', '--listen', `unix:${socket}`, '--until-input-ends'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...(display !== undefined && { DISPLAY: display }) },
  })
  let said = ''
  let isListening = false
  child.stderr.on('data', (piece: Buffer) => {
    // Afterwards these are the lines of its log, which nobody reads.
    if (!isListening) said = (said + piece.toString()).slice(-shownLength)
  })
  const ended = new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message))
    child.once('exit', (code, name) => settle(name === null ? `status ${code}` : name))
  })
  child.stdin.on('error', () => undefined)
  const end = async (): Promise<void> => {
    child.stdin.end()
    const slow = setTimeout(() => child.kill('SIGKILL'), endingMs)
    child.ref()
    await ended
    clearTimeout(slow)
    await rm(folder, { recursive: true, force: true })
  }
  const listening = new Promise<void>((settle) => child.stdout.once('data', () => settle()))
  try {
    const outcome = await orAborted(signal, Promise.race([listening, ended]))
    if (outcome !== undefined) {
      throw new UnavailableError(
        'server_incompatible',
        `"${program}" did not start a computer server (${outcome}): ${said.trim() || 'it said nothing'}. Install a current Backlot, or set BACKLOT_BIN.`,
        { data: { program } },
      )
    }
  } catch (error) {
    await end()
    throw error
  }
  isListening = true
  release(child)
  void ended.then(() => rm(folder, { recursive: true, force: true })).catch(() => undefined)
  return { socket, pid: child.pid ?? 0, ended, end }
}

/** Lets this program end while the child runs. */
const release = (child: ChildProcess): void => {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?(): void } | null)?.unref?.()
}

/** A new folder for this user alone: in the user's run-time folder where there is one, whose name is short. */
const makeFolder = async (): Promise<string> => {
  const runtime = process.env.XDG_RUNTIME_DIR
  const parent = runtime?.startsWith('/') ? join(runtime, 'backlot') : tmpdir()
  if (parent !== tmpdir()) mkdirSync(parent, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(parent, 'sdk-'))
  chmodSync(folder, 0o700)
  return folder
}
