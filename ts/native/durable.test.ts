import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replaceFile, writeSynced, writeWhole } from './durable.ts'

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

test('what cannot be put in place leaves nothing', async () => {
  const taken = join(folder, 'taken')
  mkdirSync(taken)
  await expect(writeWhole(taken, 'text')).rejects.toThrow('EISDIR')
  await expect(writeSynced(join(folder, 'file'), 'other')).rejects.toThrow('EEXIST')
  await expect(writeWhole(join(folder, 'none', 'file'), 'text')).rejects.toThrow('ENOENT')
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
})
