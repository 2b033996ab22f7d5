import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replaceFile, writeSynced, writeWhole, writeWholeSync } from './durable.ts'

const folder = mkdtempSync(join(tmpdir(), 'backlot-durable-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a file is replaced whole, for its owner alone, and nothing is left beside it', async () => {
  const path = join(folder, 'file')
  writeFileSync(path, 'a text that is longer than the next one', { mode: 0o644 })
  await replaceFile(path, 'next')
  expect(readFileSync(path, 'utf8')).toBe('next')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await replaceFile(path, Uint8Array.of(1, 2), 0o640)
  expect([...readFileSync(path)]).toEqual([1, 2])
  expect(statSync(path).mode & 0o777).toBe(0o640)
  expect(readdirSync(folder)).toEqual(['file'])
})

test('a file is made of parts as they come, and is not there when they break off', async () => {
  const path = join(folder, 'parts')
  const parts = async function* (ending?: Error) {
    yield Uint8Array.of(1, 2)
    yield Uint8Array.of(3)
    if (ending) throw ending
  }
  await writeWhole(path, parts())
  expect([...readFileSync(path)]).toEqual([1, 2, 3])
  await expect(writeWhole(path, parts(new Error('broke off')))).rejects.toThrow('broke off')
  expect([...readFileSync(path)]).toEqual([1, 2, 3])
  writeWholeSync(path, 'at once')
  expect(readFileSync(path, 'utf8')).toBe('at once')
  expect(readdirSync(folder).toSorted()).toEqual(['file', 'parts'])
  rmSync(path)
})

test('what cannot be put in place leaves nothing', async () => {
  const taken = join(folder, 'taken')
  mkdirSync(taken)
  await expect(writeWhole(taken, 'text')).rejects.toThrow('EISDIR')
  expect(() => writeWholeSync(taken, 'text')).toThrow('EISDIR')
  await expect(writeSynced(join(folder, 'file'), 'other')).rejects.toThrow('EEXIST')
  await expect(writeWhole(join(folder, 'none', 'file'), 'text')).rejects.toThrow('ENOENT')
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
})
