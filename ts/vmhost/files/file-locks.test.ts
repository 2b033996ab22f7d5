import { afterAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { core } from '../core.ts'
import { FileLocks } from './file-locks.ts'

const root = mkdtempSync(join(tmpdir(), 'backlot-locks-'))
let folder: string
let mine: FileLocks
let others: FileLocks

beforeEach(() => {
  folder = mkdtempSync(join(root, 'vm-'))
  mine = new FileLocks((path) => core().FileLock.take(path) ?? undefined)
  others = new FileLocks((path) => core().FileLock.take(path) ?? undefined)
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const dispose = (lock: Disposable | undefined) => lock?.[Symbol.dispose]()

test('a lock is shared in a service and kept from others, until the last has let go of it', () => {
  const path = join(folder, 'lock')
  const [first, second] = [mine.tryTake(path), mine.tryTake(path)]
  expect(others.tryTake(path)).toBeUndefined()
  dispose(first)
  dispose(first)
  expect(others.tryTake(path)).toBeUndefined()
  dispose(second)
  expect(existsSync(path)).toBe(false)
  const theirs = others.tryTake(path)
  expect([theirs !== undefined, mine.tryTake(path)]).toEqual([true, undefined])
  dispose(theirs)
})

test('by another path to its folder it is the same lock', () => {
  const alias = `${folder}-alias`
  symlinkSync(folder, alias)
  const [first, second] = [mine.tryTake(join(folder, 'lock')), mine.tryTake(join(alias, 'lock'))]
  expect([first, second].map((lock) => lock !== undefined)).toEqual([true, true])
  expect(others.tryTake(join(alias, 'lock'))).toBeUndefined()
  dispose(first)
  dispose(second)
  expect(existsSync(join(folder, 'lock'))).toBe(false)
})

test('one whose folder has gone or got another name is let go of, and that of the next folder there is not', () => {
  const path = join(folder, 'lock')
  const first = mine.tryTake(path)
  renameSync(folder, `${folder}-gone`)
  mkdirSync(folder)
  const next = others.tryTake(path)
  expect(next).toBeDefined()
  dispose(first)
  expect(existsSync(path)).toBe(true)
  expect(mine.tryTake(path)).toBeUndefined()
  mine.moved('/nowhere/lock', '/elsewhere/lock')
  dispose(next)
  const kept = mine.tryTake(path)
  renameSync(folder, `${folder}-moved`)
  mine.moved(path, join(`${folder}-moved`, 'lock'))
  dispose(kept)
  expect(existsSync(join(`${folder}-moved`, 'lock'))).toBe(false)
})

test('who waits is told that it is held, gets it when it is free, and waits no more when cancelled', async () => {
  const path = join(folder, 'lock')
  const theirs = others.tryTake(path)
  let looks = 0
  const whileHeld = () => void (++looks === 3 && dispose(theirs))
  dispose(await mine.take(path, { whileHeld }))
  expect(looks).toBe(3)
  using _again = others.tryTake(path)
  const late = (isLate: boolean) => {
    if (isLate) throw new Error('late')
  }
  await expect(mine.take(path, { patienceMs: 1, whileHeld: late })).rejects.toThrow('late')
  const stop = new AbortController()
  const waiting = mine.take(path, { signal: stop.signal })
  stop.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
})

test('one that the system refuses is told with the reason', () => {
  const path = join(folder, 'lock')
  mkdirSync(path)
  expect(() => mine.tryTake(path)).toThrow(expect.objectContaining({ code: 'vm_damaged' }))
  expect(() => mine.tryTake(join(folder, 'gone/lock'))).toThrow(
    expect.objectContaining({ code: 'lock_refused', message: expect.stringContaining('folder is gone') }),
  )
  writeFileSync(join(folder, 'foreign'), '')
  if (process.getuid?.() !== 0) return
  Bun.spawnSync(['chown', '12345', join(folder, 'foreign')])
  expect(() => mine.tryTake(join(folder, 'foreign'))).toThrow(
    expect.objectContaining({ code: 'lock_refused', message: expect.stringContaining('another user (12345)') }),
  )
})
