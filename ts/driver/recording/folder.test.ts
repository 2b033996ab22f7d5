import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appendBeside, isTurn, names, prepareFolder, turnName, writeBeside, writeTurn } from './folder.ts'

const root = mkdtempSync(join(tmpdir(), 'backlot-recording-'))
afterAll(() => rmSync(root, { recursive: true }))

test('turns are numbered with five digits, and more where they are needed', () => {
  expect([turnName(1), turnName(99_999), turnName(123_456)]).toEqual(['turn-00001', 'turn-99999', 'turn-123456'])
  expect([turnName(1), 'turn-1', '.turn-00001.tmp', 'turn-00001.tmp'].map(isTurn)).toEqual([true, false, false, false])
})

test('a turn has all its files, or is not there', async () => {
  const folder = join(root, 'turns')
  await prepareFolder(folder, new Date())
  await writeTurn(folder, 1, { 'a.json': '{}', 'b.png': new Uint8Array([1, 2]) })
  expect(readdirSync(folder)).toEqual(['turn-00001'])
  expect(readFileSync(join(folder, 'turn-00001/b.png'))).toEqual(Buffer.from([1, 2]))
  expect(statSync(join(folder, 'turn-00001/a.json')).mode & 0o777).toBe(0o600)
  await expect(writeTurn(folder, 2, { 'no/such/folder': '' })).rejects.toThrow()
  expect(readdirSync(folder)).toEqual(['turn-00001'])
})

test('what an earlier recording left is put aside', async () => {
  const folder = join(root, 'again')
  await prepareFolder(folder, new Date())
  await writeTurn(folder, 1, { 'a.json': '{}' })
  await writeBeside(folder, names.session, 'one')
  await appendBeside(folder, names.cursor, 'line\n')
  writeFileSync(join(folder, 'notes.txt'), 'mine')
  await prepareFolder(folder, new Date(0))
  expect(readdirSync(folder).sort()).toEqual(['earlier-19700101T000000000Z', 'notes.txt'])
  expect(readdirSync(join(folder, 'earlier-19700101T000000000Z')).sort()).toEqual([
    'cursor.jsonl',
    'session.json',
    'turn-00001',
  ])
})

test('a folder that has vanished is not made again', async () => {
  const folder = join(root, 'vanished')
  await expect(writeTurn(folder, 1, { 'a.json': '{}' })).rejects.toThrow()
  await expect(appendBeside(folder, names.cursor, 'line\n')).rejects.toThrow()
  expect(existsSync(folder)).toBe(false)
})
