/** Where the files of sandboxes stand. */

import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import { inside, isRoot } from '../isolation/entering.ts'
import { canHaveAllIds, withAllIds } from '../own-root/all-ids.ts'
import { idsHere } from '../own-root/ids.ts'
import { type RunRecord, readRecord, type SandboxRecord } from './record.ts'

/** The folder of one sandbox, which is named after it. */
export class SandboxFolder {
  #name: string

  constructor(
    readonly base: string,
    name: string,
  ) {
    this.#name = name
  }

  get name(): string {
    return this.#name
  }
  get path(): string {
    return join(this.base, this.#name)
  }

  /** Gives the sandbox another name, which nobody else may take meanwhile. */
  rename(name: string): void {
    renameSync(this.path, join(this.base, name))
    this.#name = name
  }

  at(...parts: string[]): string {
    return join(this.path, ...parts)
  }

  /** The file that is locked by whoever changes the sandbox's state. */
  get lock(): string {
    return join(this.base, `${this.name}.lock`)
  }
  /** What it was made as. */
  get record(): string {
    return this.at('record.json')
  }
  /** Which processes it is. */
  get run(): string {
    return this.at('run.json')
  }
  /** The key that its computer server asks for. */
  get key(): string {
    return this.at('key')
  }
  /** Files that are its own: what it writes stays here. */
  get files(): string {
    return this.at('files')
  }
  /** A folder that the host and the sandbox share, for the socket of its computer server. */
  get share(): string {
    return this.at('share')
  }
  get log(): string {
    return this.at('log')
  }

  get exists(): boolean {
    return existsSync(this.path)
  }
  readRecord(): SandboxRecord | null {
    const record = readRecord<SandboxRecord>(this.record)
    // Those that were made before there were roots have none.
    return record === null ? null : { ...record, root_version: record.root_version ?? null }
  }
  readRun(): RunRecord | null {
    return readRecord<RunRecord>(this.run)
  }

  /** The path at which it was made, by which its user and its control groups are called. */
  get origin(): string {
    return this.readRecord()?.origin ?? this.path
  }

  /** The user of the host that its programs run as: this one, or one that no system gives to anybody. */
  get user(): number {
    const isolation = this.readRecord()?.isolation
    if (isolation === 'own-root') return idsHere().uid
    // It has nobody else's rights, nor those to be somebody else.
    if (!isRoot() || isolation === 'landlock') return process.geteuid?.() ?? -1
    const hash = new Bun.CryptoHasher('sha256').update(this.origin).digest()
    return 0x71000000 + hash.readUIntBE(0, 3)
  }

  /** Makes a folder that belongs to the sandbox's user, for it alone. */
  makeOwn(path: string, mode = 0o700): void {
    mkdirSync(path, { recursive: true, mode })
    if (isRoot()) chownSync(path, this.user, this.user)
  }

  /** Removes the sandbox's folder: it is gone at once, and its files soon. */
  async remove(): Promise<void> {
    const gone = join(this.base, `.gone-${randomBytes(6).toString('hex')}`)
    try {
      renameSync(this.path, gone)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      throw error
    }
    await removeTree(gone)
  }
}

/** Removes a tree, also where a program has taken the rights to its own folders from itself, or they are of many users. */
export const removeTree = async (path: string): Promise<void> => {
  try {
    await rm(path, { recursive: true, force: true })
  } catch {
    if (!isRoot() && canHaveAllIds()) {
      const words = [...withAllIds(), 'rm', '--recursive', '--force', '--', path]
      await Bun.spawn(words, { cwd: '/', stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).exited
    }
    if (!existsSync(path)) return
    await Bun.spawn(['chmod', '-R', 'u+rwX', path], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).exited
    await rm(path, { recursive: true, force: true })
  }
}

/** The folder of all sandboxes of this user, which is made. */
export const sandboxesFolder = (environment = process.env): string => {
  const folder = join(placesOf(environment).state, 'local')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

/** The folders of all sandboxes, whatever became of them. */
export const sandboxFolders = (base: string): SandboxFolder[] =>
  readdirSync(base, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.includes('.'))
    .map(({ name }) => new SandboxFolder(base, name))

/** What removals that were cut short have left. */
export const unfinishedRemovals = (base: string): string[] =>
  readdirSync(base)
    .filter((name) => name.startsWith('.gone-'))
    .map((name) => join(base, name))

/** The failure of whoever names a sandbox that there is none of. */
export const sandboxNotFound = (name: string): Failure =>
  new Failure('sandbox_not_found', `There is no sandbox "${name}". \`backlot local list\` shows those there are.`, {
    name,
  })

/** Folders of a sandbox that it may write to, by where it sees them. */
export const ownFolders = { home: inside.home, opt: '/opt', srv: '/srv', var: '/var' } as const
