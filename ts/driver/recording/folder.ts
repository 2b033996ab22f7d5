/** The files of a recording, each written whole or not at all. */
import { appendFile, lstat, mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { type Content, replaceFile, syncFolder, writeSynced } from '@backlot/native/durable'
import { tryLock } from '../lock.ts'

/** Names in the folder of a recording. */
export const names = {
  session: 'session.json',
  cursor: 'cursor.jsonl',
  film: 'recording.mp4',
  action: 'action.json',
  state: 'app_state.json',
  screenshot: 'screenshot.png',
  click: 'click.png',
} as const

/** The folder of a turn: `turn-00001`. */
export const turnName = (turn: number): string => `turn-${String(turn).padStart(5, '0')}`

/** True of the names of turns. */
export const isTurn = (name: string): boolean => /^turn-\d{5,}$/.test(name)

/** Values of JSON as they stand in a file. */
export const asJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** A folder that one recording writes to, whatever process it runs in and however its path is spelled. */
export interface OwnFolder {
  /** Its path without symbolic links. */
  readonly path: string
  /** Throws where another folder has taken its place, which may be somebody else's. */
  check(): Promise<void>
  /** Lets others have it. */
  release(): Promise<void>
}

/** Makes the folder and takes it for one recording; the lock lies in it. Throws `recording_not_started` where another has it. */
export const takeFolder = async (folder: string): Promise<OwnFolder> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = await realpath(folder)
  const lock = await tryLock(join(path, '.recording'))
  if (lock === undefined) throw inUse(folder, null)
  const { dev, ino } = await stat(path)
  const check = async () => {
    const now = await lstat(path)
    if (now.dev !== dev || now.ino !== ino) throw new Error('another folder has taken its place')
  }
  return {
    path,
    check,
    // The lock's file goes by its path: in another folder it would be another's.
    release: () =>
      check().then(
        () => lock.release(),
        () => lock.leave(),
      ),
  }
}

/** The failure of a second recording in a folder. */
export const inUse = (output_dir: string, owner: string | null): Failure =>
  new Failure(
    'recording_not_started',
    `Another recording writes to "${output_dir}"${owner === null ? '' : `, that of "${owner}"`}. Name another folder.`,
    { output_dir, owner },
  )

/**
 * Makes the folder, and puts what an earlier recording left there into a folder of its own, `earlier-…`, so that turns
 * of two recordings never stand side by side. Gives that folder, or null where nothing was left.
 */
export const prepareFolder = async (folder: string, at: Date): Promise<string | null> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const own: ReadonlySet<string> = new Set([names.session, names.cursor, names.film])
  const left = (await readdir(folder)).filter((name) => isTurn(name) || own.has(name) || name.startsWith('.turn-'))
  if (left.length === 0) return null
  const earlier = join(folder, `earlier-${at.toISOString().replace(/[-:.]/g, '')}`)
  await mkdir(earlier, { mode: 0o700 })
  for (const name of left) await rename(join(folder, name), join(earlier, name))
  return earlier
}

/** Writes a turn: its folder gets its name when all files in it are on the disk. */
export const writeTurn = async (
  folder: string,
  turn: number,
  files: Readonly<Record<string, Content>>,
): Promise<void> => {
  const [temporary, final] = [join(folder, `.${turnName(turn)}.tmp`), join(folder, turnName(turn))]
  // Not within what follows: what is there already is not ours to take away.
  await mkdir(temporary, { mode: 0o700 })
  try {
    for (const [name, content] of Object.entries(files)) await writeSynced(join(temporary, name), content)
    await syncFolder(temporary)
    await rename(temporary, final)
    await syncFolder(folder)
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined)
    throw error
  }
}

/** Writes or replaces a file beside the turns. */
export const writeBeside = (folder: string, name: string, content: Content): Promise<void> =>
  replaceFile(join(folder, name), content)

/** Adds lines to a file beside the turns, in a folder that is still there. */
export const appendBeside = async (folder: string, name: string, lines: string): Promise<void> => {
  await lstat(folder)
  await appendFile(join(folder, name), lines, { mode: 0o600 })
}
