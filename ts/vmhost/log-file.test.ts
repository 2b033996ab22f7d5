import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LogFile } from './log-file.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-log-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('lines are JSON, told apart by their level, the latest last', async () => {
  const log = new LogFile(join(folder, 'a/b.log'), 10_000)
  expect(await log.tail('info', 5)).toEqual([])
  log.write('info', 'one', { name: 'x\n"level":"error"' })
  log.write('error', 'two')
  log.write('info', 'three')
  expect((await log.tail('info', undefined)).map((line) => JSON.parse(line).event)).toEqual(['one', 'three'])
  expect((await log.tail('info', 1)).map((line) => JSON.parse(line).event)).toEqual(['three'])
  expect(await log.tail('info', 0)).toEqual([])
  expect((await log.tail('error', 9)).map((line) => JSON.parse(line))).toEqual([
    { time: expect.stringMatching(/^\d{4}-.*Z$/), level: 'error', event: 'two' },
  ])
  expect((await stat(log.path)).mode & 0o777).toBe(0o600)
})

test('the file stays below its limit, and the one before it is still read', async () => {
  const path = join(folder, 'rotated.log')
  for (const run of [1, 2]) {
    const log = new LogFile(path, 1_000)
    for (let line = 0; line < 20; line++) log.write('info', `${run}-${line}`)
  }
  expect((await stat(path)).size).toBeLessThanOrEqual(1_000)
  expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(1_000)
  const events = (await new LogFile(path, 1_000).tail('info', undefined)).map((line) => JSON.parse(line).event)
  expect(events.at(-1)).toBe('2-19')
  expect(events.length).toBeGreaterThan(14)
  expect((await readFile(path, 'utf8')).endsWith('\n')).toBe(true)
})

test('one that cannot be written stops nothing, and one that cannot be read is a failure', async () => {
  const path = join(folder, 'folder.log')
  await mkdir(path)
  const log = new LogFile(path, 1_000)
  log.write('info', 'lost')
  await expect(log.tail('info', 1)).rejects.toMatchObject({ code: 'logs_unreadable', data: { path } })
})
