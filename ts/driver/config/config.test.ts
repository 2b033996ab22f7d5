import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigFile, configFileAt } from './config.ts'

const folders: string[] = []
const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'backlot-config-'))
  folders.push(made)
  return made
}
afterEach(() => {
  for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true })
})

const defaults = {
  capture_mode: 'som',
  check_for_update: true,
  evidence_timeout_ms: 400,
  element_tags: 'long',
  experimental_pip: false,
  experimental_pip_geometry: '',
  extensions: true,
  max_image_dimension: 0,
  observe_timeout_ms: 1_000,
  stop_key: '',
} as const

test('an absent file gives the defaults', async () => {
  expect(await new ConfigFile(join(folder(), 'none', 'driver.json')).read()).toEqual(defaults)
})

test('a change is in the file, nothing else stands beside it, and other keys stay', async () => {
  const inside = folder()
  const path = join(inside, 'driver.json')
  writeFileSync(path, '{"of_a_later_version": 1}')
  expect(await new ConfigFile(path).write({ max_image_dimension: 800 })).toEqual({
    ...defaults,
    max_image_dimension: 800,
  })
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ of_a_later_version: 1, max_image_dimension: 800 })
  expect(readdirSync(inside)).toEqual(['driver.json'])
})

test('changes at once are all kept', async () => {
  const file = new ConfigFile(join(folder(), 'driver.json'))
  await Promise.all([file.write({ capture_mode: 'ax' }), file.write({ element_tags: 'short' })])
  expect(await file.read()).toEqual({ ...defaults, capture_mode: 'ax', element_tags: 'short' })
})

test.each([
  ['{', 'holds no JSON object'],
  ['[]', 'holds no JSON object'],
  ['{"capture_mode": "all"}', 'holds "all" for "capture_mode"'],
])('the corrupt file %p is named and left as it is', async (text, what) => {
  const path = join(folder(), 'driver.json')
  writeFileSync(path, text)
  const file = new ConfigFile(path)
  const message = `The configuration file "${path}" ${what}. Mend it, or run "backlot-driver config reset".`
  expect(file.read()).rejects.toMatchObject({ code: 'config_unreadable', message })
  expect(file.write({ element_tags: 'short' })).rejects.toMatchObject({ code: 'config_unreadable' })
  await file.write({}).catch(() => undefined)
  expect(readFileSync(path, 'utf8')).toBe(text)
  await file.reset()
  expect(await file.read()).toEqual(defaults)
})

test('a folder that cannot be made is a failure that names the file', async () => {
  const inside = folder()
  writeFileSync(join(inside, 'file'), '')
  const file = new ConfigFile(join(inside, 'file', 'driver.json'))
  expect(file.write({})).rejects.toMatchObject({ code: 'config_not_written' })
  await file.write({}).catch(() => undefined)
})

test('the file stands in the configuration folder', () => {
  expect(configFileAt({ BACKLOT_HOME: '/somewhere' })).toBe('/somewhere/config/driver.json')
})

test('processes that change the file at once lose no change of each other', async () => {
  const path = join(folder(), 'driver.json')
  const keys = ['a', 'b', 'c'].map((letter) => Array.from({ length: 12 }, (_, turn) => `${letter}${turn}`))
  const program = `
    const { ConfigFile } = await import(${JSON.stringify(join(import.meta.dir, 'config.ts'))})
    for (const key of process.argv[1].split(',')) await new ConfigFile(${JSON.stringify(path)}).write({ [key]: true })
  `
  const writers = keys.map((own) => Bun.spawn([process.execPath, '-e', program, own.join(',')], { stderr: 'inherit' }))
  expect(await Promise.all(writers.map((writer) => writer.exited))).toEqual([0, 0, 0])
  expect(Object.keys(JSON.parse(readFileSync(path, 'utf8'))).sort()).toEqual(keys.flat().sort())
})
