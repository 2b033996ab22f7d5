/** The state files: one for each sandbox, `NAME.json` in a folder that its user alone may use. */
import { fieldFault } from '@backlot/contract/fields/field'
import { SandboxKeys, SandboxRecord, sandboxFormat } from '@backlot/contract/sandbox'
import { ConflictError } from '../errors.ts'
import {
  createFile,
  isSystemError,
  makePrivateFolder,
  readText,
  removeFile,
  replaceFile,
  temporaryPrefix,
} from './durable.ts'
import { type Lock, removeDeadLocks, tryLock } from './lock.ts'

/** A file that is there and cannot be used. */
export interface UnusableRecord {
  readonly name: string
  readonly error: ConflictError
}

/** Milliseconds after which nobody writes to a file any more that is not in place. */
const oldMs = 60 * 60_000

/** The state files of one folder. */
export class Records {
  constructor(readonly folder: string) {}

  pathOf(name: string): string {
    return `${this.folder}/${name}.json`
  }

  /** The record of that name; undefined where there is none. Throws `state_unusable` for a damaged or later file. */
  async read(name: string): Promise<SandboxRecord | undefined> {
    const text = await readText(this.pathOf(name))
    return text === undefined ? undefined : parse(this.pathOf(name), name, text)
  }

  /** Every record, and every file that cannot be used. */
  async list(): Promise<{ records: SandboxRecord[]; unusable: UnusableRecord[] }> {
    const { readdir } = await import('node:fs/promises')
    const names = await readdir(this.folder).catch((error) => {
      if (isSystemError(error, 'ENOENT')) return []
      throw error
    })
    const records: SandboxRecord[] = []
    const unusable: UnusableRecord[] = []
    await this.#removeOld(this.folder, names)
    for (const each of ['keys', 'locks']) {
      const folder = `${this.folder}/${each}`
      await this.#removeOld(folder, await readdir(folder).catch(() => []))
    }
    await removeDeadLocks(`${this.folder}/locks`)
    for (const file of names.filter((each) => each.endsWith('.json'))) {
      const name = file.slice(0, -'.json'.length)
      try {
        const record = await this.read(name)
        if (record !== undefined) records.push(record)
      } catch (error) {
        if (!(error instanceof ConflictError) || error.code !== 'state_unusable') throw error
        unusable.push({ name, error })
      }
    }
    return { records, unusable }
  }

  /** Reserves a name with its first record; false where the name is taken. */
  async reserve(record: SandboxRecord): Promise<boolean> {
    await makePrivateFolder(this.folder)
    return createFile(this.pathOf(record.name), spell(record))
  }

  /** Writes the record of a name whose lock is held. */
  async write(record: SandboxRecord): Promise<void> {
    await replaceFile(this.pathOf(record.name), spell(record))
  }

  /** Removes what is kept of a name whose lock is held. */
  async remove(name: string): Promise<void> {
    // The keys go first: a record without them is found again, keys without a record are not.
    await removeFile(this.#keysOf(name))
    await removeFile(this.pathOf(name))
  }

  /** Keeps the keys of a sandbox. */
  async writeKeys(name: string, keys: SandboxKeys): Promise<void> {
    if (Object.values(keys).every((each) => each === undefined)) return removeFile(this.#keysOf(name))
    await makePrivateFolder(`${this.folder}/keys`)
    await replaceFile(this.#keysOf(name), `${JSON.stringify(keys, null, 2)}\n`)
  }

  /** The keys of a sandbox. */
  async readKeys(name: string): Promise<SandboxKeys> {
    const path = this.#keysOf(name)
    const text = await readText(path)
    if (text === undefined) return {}
    const keys = jsonOf(text)
    const fault = fieldFault('keys', SandboxKeys, keys)
    if (fault === undefined) return keys as SandboxKeys
    throw unusable(path, `It does not hold keys.`, `Remove it, then delete the sandbox "${name}" and create it again.`)
  }

  /** Takes the lock of a name; undefined where a living program works on that sandbox. */
  tryLock(name: string): Promise<Lock | undefined> {
    return tryLock(`${this.folder}/locks/${name}`)
  }

  /** Removes what a program that was killed had begun to write. */
  async #removeOld(folder: string, files: readonly string[]): Promise<void> {
    const { rm, stat } = await import('node:fs/promises')
    for (const file of files.filter((each) => each.startsWith(temporaryPrefix))) {
      const path = `${folder}/${file}`
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
      if (Date.now() - mtimeMs > oldMs) await rm(path, { force: true }).catch(() => undefined)
    }
  }

  #keysOf(name: string): string {
    return `${this.folder}/keys/${name}.json`
  }
}

const spell = (record: SandboxRecord): string => `${JSON.stringify(record, null, 2)}\n`

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const unusable = (path: string, why: string, next: string, format?: number): ConflictError =>
  new ConflictError('state_unusable', `The state file "${path}" cannot be used. ${why} ${next}`, {
    data: { path, ...(format !== undefined && { format }) },
  })

const parse = (path: string, name: string, text: string): SandboxRecord => {
  const held = jsonOf(text) as { format?: unknown; name?: unknown } | null | undefined
  if (typeof held?.format === 'number' && held.format > sandboxFormat) {
    throw unusable(
      path,
      `A later version of Backlot wrote it (format ${held.format}).`,
      'Update @backlot/sdk.',
      held.format,
    )
  }
  const fault = held === undefined ? 'It is not JSON.' : faultOf(held)
  if (fault === undefined && held?.name === name) return held as SandboxRecord
  throw unusable(
    path,
    fault ?? `It is of a sandbox with another name.`,
    `Delete the sandbox with its runtime named, \`Sandbox.delete("${name}", { runtime })\`, or remove the file.`,
  )
}

/** What is wrong with the first field that is wrong. */
const faultOf = (held: unknown): string | undefined => {
  if (typeof held !== 'object' || held === null || Array.isArray(held)) return 'It does not hold an object.'
  const fields = held as Readonly<Record<string, unknown>>
  const required: readonly string[] = SandboxRecord.required ?? []
  for (const [name, schema] of Object.entries(SandboxRecord.properties)) {
    if (!(name in fields) && required.includes(name)) return `Its field "${name}" is missing.`
    if (fields[name] === undefined) continue
    const fault = fieldFault(name, schema, fields[name])
    if (fault !== undefined) return fault
  }
  return undefined
}
