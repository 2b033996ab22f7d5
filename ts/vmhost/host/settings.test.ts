import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingsFile } from './settings.ts'

let folder: string
let path: string
const usual = { homeDirectory: '/vms', cacheDirectory: '/cache' }

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-settings-'))
  path = join(folder, 'config', 'vmhost.json')
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const written = async () => JSON.parse(await readFile(path, 'utf8'))
const put = async (text: string) => {
  await mkdir(join(folder, 'config'), { recursive: true })
  await writeFile(path, text)
}

describe('the settings file', () => {
  test('need not exist', async () => {
    expect(await new SettingsFile(path, usual).read()).toEqual({
      ...usual,
      registry: 'ghcr.io',
      organization: 'trycua',
      ipswCatalog: expect.stringContaining('https://'),
      cachingEnabled: true,
      locations: [],
      defaultLocationName: 'home',
    })
    expect(await readdir(folder)).toEqual([])
  })

  test('holds what was decided and nothing else, and keeps what it does not know', async () => {
    await put('{"newer":1}')
    await new SettingsFile(path, usual).change(() => ({ cachingEnabled: false }))
    expect(await written()).toEqual({ newer: 1, cachingEnabled: false })
    expect(await readdir(join(folder, 'config'))).toEqual(['vmhost.json'])
  })

  test('shows at once what another process wrote', async () => {
    const file = new SettingsFile(path, usual)
    await file.change(() => ({ cachingEnabled: false }))
    await put('{"homeDirectory":"/elsewhere"}')
    expect(await file.read()).toMatchObject({ homeDirectory: '/elsewhere', cachingEnabled: true })
  })

  test('loses none of the changes that come at the same time', async () => {
    const file = new SettingsFile(path, usual)
    const names = Array.from({ length: 40 }, (_, index) => `disk${index}`)
    await Promise.all(
      names.map((name) => file.change(({ locations }) => ({ locations: [...locations, { name, path: `/${name}` }] }))),
    )
    expect((await file.read()).locations.map(({ name }) => name)).toEqual(names)
  })

  test('stays as it was when a change throws, and takes the next one', async () => {
    const file = new SettingsFile(path, usual)
    await file.change(() => ({ cachingEnabled: false }))
    await expect(file.change(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
    await file.change(() => ({ cacheDirectory: '/other' }))
    expect(await written()).toEqual({ cachingEnabled: false, cacheDirectory: '/other' })
  })

  test('is named where it holds something else', async () => {
    for (const text of [
      '',
      '{"homeDirectory":',
      '[]',
      '{"homeDirectory":7}',
      '{"locations":[{"name":"../x","path":"/x"}]}',
      '{"locations":[{"name":"home","path":"/x"}]}',
      '{"locations":[{"name":"a","path":"/x"},{"name":"a","path":"/y"}]}',
      '{"defaultLocationName":"gone"}',
    ]) {
      await put(text)
      const file = new SettingsFile(path, usual)
      await expect(file.read()).rejects.toMatchObject({
        code: 'config_unreadable',
        message: expect.stringContaining(`"${path}"`),
      })
      await expect(file.change(() => ({}))).rejects.toMatchObject({ code: 'config_unreadable' })
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  test('that cannot be written is a failure that names it', async () => {
    await symlink('/proc/nothing', join(folder, 'config'))
    await expect(new SettingsFile(path, usual).change(() => ({ cachingEnabled: false }))).rejects.toMatchObject({
      code: 'config_not_written',
      message: expect.stringContaining(`"${path}"`),
    })
  })

  test('holds the changes of two services that change it at the same time', async () => {
    const both = [new SettingsFile(path, usual), new SettingsFile(path, usual)]
    const add = (file: SettingsFile, name: string) =>
      file.change(({ locations }) => ({ locations: [...locations, { name, path: `/${name}` }] }))
    await Promise.all(both.flatMap((file, service) => [...'abcdef'].map((letter) => add(file, `${letter}${service}`))))
    expect((await new SettingsFile(path, usual).read()).locations).toHaveLength(12)
  })

  test('is whole, old or new, whenever its writer is killed', async () => {
    const writer = `
      import { SettingsFile } from ${JSON.stringify(join(import.meta.dir, 'settings.ts'))}
      const file = new SettingsFile(process.argv[1], { homeDirectory: '/', cacheDirectory: '/' })
      for (let round = 1; ; round++) {
        const locations = Array.from({ length: 2000 }, (_, index) => ({ name: 'n' + index, path: '/' + round }))
        await file.change(() => ({ locations }))
        process.stdout.write('.')
      }`
    for (let round = 0; round < 5; round++) {
      const child = Bun.spawn([process.execPath, '-e', writer, path], { stdout: 'pipe', stderr: 'inherit' })
      const reader = child.stdout.getReader()
      for (let seen = 0; seen <= round; ) {
        const { done, value } = await reader.read()
        if (done) throw new Error('the writer ended by itself')
        seen += value.byteLength
      }
      child.kill('SIGKILL')
      await child.exited
      const { locations } = await new SettingsFile(path, usual).read()
      expect(locations).toHaveLength(2000)
      expect(new Set(locations.map((location) => location.path)).size).toBe(1)
    }
  }, 120_000)
})
