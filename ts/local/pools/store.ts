/** Where pools of sandboxes that wait are told of: a file each, and the lock that its owner holds. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import type { FileLock } from '@backlot/native'
import { readRecord, writeRecord } from '../state/record.ts'

/** How to reach the program that owns a pool. */
export interface PoolRecord {
  readonly name: string
  /** What its sandboxes are started as: a pool of another kind takes its place. */
  readonly kind: string
  readonly pid: number
  /** The port of 127.0.0.1 at which it hands sandboxes out, and the key that it asks for. */
  readonly port: number
  readonly key: string
}

/** How full a pool is; spelled as on the wire. */
export interface PoolInfo {
  readonly name: string
  /** How many it is to keep ready, and how many it does by the memory that is free. */
  readonly size: number
  readonly kept: number
  readonly ready: number
  readonly starting: number
  readonly warnings: readonly string[]
}

/** The folder of all pools of this user, which is made. */
export const poolsFolder = (environment = process.env): string => {
  const folder = join(placesOf(environment).state, 'local-pools')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return folder
}

const fileOf = (folder: string, name: string): string => join(folder, `${name}.json`)

/** Takes a pool's lock, which its owner holds as long as it lives; null where another has it. */
export const tryOwnPool = async (folder: string, name: string): Promise<FileLock | null> => {
  const { FileLock } = await import('@backlot/native')
  return FileLock.take(join(folder, `${name}.lock`))
}

/** Tells how to reach the pool that this process owns. */
export const writePoolRecord = (folder: string, record: PoolRecord): void =>
  writeRecord(fileOf(folder, record.name), record)

/** Takes that back. */
export const forgetPool = (folder: string, name: string): void => rmSync(fileOf(folder, name), { force: true })

/** The pool of that name, or null where nobody owns one. */
export const findPool = async (folder: string, name: string): Promise<PoolRecord | null> => {
  const record = readRecord<PoolRecord>(fileOf(folder, name))
  if (record === null) return null
  const lock = await tryOwnPool(folder, name)
  if (lock === null) return record
  // Its owner was killed.
  forgetPool(folder, name)
  lock.release()
  return null
}

/** All pools. */
export const listPools = async (folder: string): Promise<PoolRecord[]> => {
  const names = readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -'.json'.length)] : []))
  const found = await Promise.all(names.map((name) => findPool(folder, name)))
  return found.filter((each) => each !== null).toSorted((one, other) => one.name.localeCompare(other.name))
}

/** The failure of whoever names a pool that there is none of. */
export const poolNotFound = (name: string): Failure =>
  new Failure('pool_not_found', `There is no pool "${name}". \`backlot local pools\` shows those there are.`, { name })
