import { afterAll, beforeAll, expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileLock } from '@backlot/native'
import { LogFile } from './log-file.ts'

let folder: string

const lock = (path: string) => FileLock.take(path) ?? undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-log-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

test('lines are JSON, told apart by their level, the latest last', async () => {
  const log = new LogFile(join(folder, 'a/b.log'), 10_000, lock)
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
    const log = new LogFile(path, 1_000, lock)
    for (let line = 0; line < 20; line++) log.write('info', `${run}-${line}`)
  }
  expect((await stat(path)).size).toBeLessThanOrEqual(1_000)
  expect((await stat(`${path}.1`)).size).toBeLessThanOrEqual(1_000)
  const events = (await new LogFile(path, 1_000, lock).tail('info', undefined)).map((line) => JSON.parse(line).event)
  expect(events.at(-1)).toBe('2-19')
  expect(events.length).toBeGreaterThan(14)
  expect((await readFile(path, 'utf8')).endsWith('\n')).toBe(true)
})

test('of two services that share it neither takes away what the other has begun', () => {
  const path = join(folder, 'shared.log')
  const services = [new LogFile(path, 1_000, lock), new LogFile(path, 1_000, lock)]
  for (let line = 0; line < 60; line++) {
    services[line % 2]?.write('info', String(line))
    const before = statSync(`${path}.1`, { throwIfNoEntry: false })
    if (before !== undefined) expect(before.size).toBeGreaterThan(900)
  }
})

test('services that write at the same time lose no line', async () => {
  const path = join(folder, 'raced.log')
  const line = '{"time":"2026-01-01T00:00:00.000Z","level":"info","event":"0-000"}\n'
  const [services, lines] = [4, 300]
  // All of it has room in one file and most of the next.
  const most = Math.ceil((services * lines * line.length) / 1.8)
  const program = `
    import { FileLock } from '@backlot/native'
    import { LogFile } from './log-file.ts'
    const [path, most, service, lines] = process.argv.slice(1)
    const log = new LogFile(path, Number(most), (file) => FileLock.take(file) ?? undefined)
    process.stdout.write('ready')
    await Bun.stdin.text()
    for (let line = 0; line < Number(lines); line++) log.write('info', service + '-' + String(line).padStart(3, '0'))`
  const writers = Array.from({ length: services }, (_, service) => {
    const words = [process.execPath, '-e', program, path, String(most), String(service), String(lines)]
    return Bun.spawn(words, { cwd: import.meta.dir, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  })
  await Promise.all(writers.map(({ stdout }) => stdout.getReader().read()))
  for (const { stdin } of writers) stdin.end()
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0])
  const events = (await new LogFile(path, most, lock).tail('info', undefined)).map((text) => JSON.parse(text).event)
  expect(new Set(events).size).toBe(services * lines)
  expect((await stat(`${path}.1`)).size).toBeGreaterThan(most * 0.9)
})

test('one that cannot be written stops nothing, and one that cannot be read is a failure', async () => {
  const path = join(folder, 'folder.log')
  await mkdir(path)
  const log = new LogFile(path, 1_000, lock)
  log.write('info', 'lost')
  await expect(log.tail('info', 1)).rejects.toMatchObject({ code: 'logs_unreadable', data: { path } })
})
