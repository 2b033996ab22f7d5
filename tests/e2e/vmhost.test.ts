import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { proving } from '../support/proves.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'

let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
})

afterAll(() => host[Symbol.asyncDispose]())

type Json = Record<string, unknown>

const call = async (method: string, path: string, body?: unknown): Promise<[number, Json]> => {
  const answer = await fetch(host.url + path, {
    method,
    ...(body === undefined
      ? {}
      : {
          headers: { 'Content-Type': 'application/json' },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
  })
  return [answer.status, (await answer.json()) as Json]
}

const config = async () => (await call('GET', '/svc/config'))[1]

/** What `backlot host …` prints, as data. */
const shell = async (...args: string[]): Promise<unknown> => {
  const { stdout, stderr, status } = await host.host(...args)
  expect([stderr, status]).toEqual(['', 0])
  return JSON.parse(stdout)
}

describe('configuration', () => {
  test(
    'is complete from the start',
    proving(
      ['vmhost.config.get', 'vmhost.serve.command', 'vmhost.serve.port', 'vmhost.version.no-path-segment'],
      async () => {
        const usual = {
          homeDirectory: join(host.home, 'data/vms'),
          vmLocations: [{ name: 'home', path: join(host.home, 'data/vms') }],
          defaultLocationName: 'home',
          cacheDirectory: join(host.home, 'cache/images'),
          cachingEnabled: true,
          registry: 'ghcr.io',
          organization: 'trycua',
          ipswCatalog: 'https://mesu.apple.com/assets/macos/com_apple_macOSIPSW/com_apple_macOSIPSW.xml',
        }
        expect(await call('GET', '/svc/config')).toEqual([200, usual])
        expect(await call('GET', '/lume/config')).toEqual([200, usual])
        expect(await shell('config')).toEqual(usual)
        expect(await shell('config', 'get')).toEqual(usual)
      },
    ),
  )

  test(
    'changes in what is named and nothing else',
    proving(['vmhost.config.set', 'vmhost.serve.json-bodies'], async () => {
      const before = await config()
      const [status, answer] = await call('POST', '/svc/config', { cachingEnabled: false, later: 'ignored' })
      expect([status, Object.keys(answer)]).toEqual([200, ['message']])
      expect(await config()).toEqual({ ...before, cachingEnabled: false })
      expect(await shell('config', 'set', '--caching-enabled', 'true')).toEqual({ message: expect.any(String) })
      expect(await config()).toEqual(before)
      expect((await call('POST', '/svc/config', {}))[0]).toBe(200)
      expect(await config()).toEqual(before)
    }),
  )

  test(
    'takes folders, makes them, and knows the home folder by its tilde',
    proving(['vmhost.config.home-directory', 'vmhost.config.cache-directory'], async () => {
      const [home, cache] = [join(host.home, 'new/vms'), join(host.home, 'new/cache')]
      expect((await call('POST', '/svc/config', { homeDirectory: `${home}/` }))[0]).toBe(200)
      await shell('config', 'set', '--cache-directory', cache)
      expect((await stat(home)).isDirectory() && (await stat(cache)).isDirectory()).toBe(true)
      expect(await config()).toMatchObject({
        homeDirectory: home,
        cacheDirectory: cache,
        vmLocations: [{ name: 'home', path: home }],
      })
      expect((await call('POST', '/svc/config', { cacheDirectory: '~' }))[0]).toBe(200)
      expect((await config()).cacheDirectory).toBe(homedir())
    }),
  )

  test(
    'refuses what cannot be and stays as it was',
    proving(['vmhost.config.set.refused'], async () => {
      const before = await config()
      const file = join(host.home, 'a-file')
      await writeFile(file, '')
      for (const body of [
        '',
        '{',
        '[]',
        { cachingEnabled: 'yes' },
        { homeDirectory: 'relative/path' },
        { homeDirectory: '' },
        { homeDirectory: `${host.home}/../x` },
        { homeDirectory: `${file}/below` },
        { cacheDirectory: file },
        { cachingEnabled: false, cacheDirectory: '/proc/nothing' },
      ]) {
        const [status, answer] = await call('POST', '/svc/config', body)
        expect([body, status, answer]).toEqual([
          body,
          400,
          expect.objectContaining({ code: expect.any(String), message: expect.any(String) }),
        ])
      }
      expect((await call('POST', '/svc/config', { cacheDirectory: file }))[1].message).toContain(`"${file}"`)
      expect(await config()).toEqual(before)
      expect(await host.host('config', 'set', '--home-directory', 'relative')).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringContaining('"relative"'),
      })
    }),
  )
})

describe('storage locations', () => {
  test(
    'are added, listed by name, chosen and removed',
    proving(
      [
        'vmhost.locations.list',
        'vmhost.locations.add',
        'vmhost.locations.remove',
        'vmhost.location.name',
        'vmhost.location.path',
      ],
      async () => {
        const [zoo, ark] = [join(host.home, 'zoo'), join(host.home, 'ark')]
        const [home] = (await call('GET', '/svc/config/locations'))[1] as unknown as [Json]
        expect(await call('POST', '/svc/config/locations', { name: 'zoo', path: zoo })).toEqual([
          200,
          { message: expect.any(String), name: 'zoo', path: zoo },
        ])
        expect((await stat(zoo)).isDirectory()).toBe(true)
        expect(await shell('config', 'locations', 'add', 'ark', ark)).toMatchObject({ name: 'ark', path: ark })
        const sorted = [{ name: 'ark', path: ark }, home, { name: 'zoo', path: zoo }]
        expect(await call('GET', '/svc/config/locations')).toEqual([200, sorted as never])
        expect(await shell('config', 'locations')).toEqual(sorted)
        expect((await config()).vmLocations).toEqual(sorted)

        expect(await call('DELETE', '/lume/config/locations/zoo')).toEqual([200, { message: expect.any(String) }])
        expect(await shell('config', 'locations', 'remove', 'ark')).toEqual({ message: expect.any(String) })
        expect(await shell('config', 'locations', 'list')).toEqual([home])
        expect(existsSync(zoo) && existsSync(ark)).toBe(true)
      },
    ),
  )

  test(
    'have one default, which its own operation changes',
    proving(['vmhost.locations.default', 'vmhost.location.one-default'], async () => {
      await call('POST', '/svc/config/locations', { name: 'ssd', path: join(host.home, 'ssd') })
      expect((await config()).defaultLocationName).toBe('home')
      expect(await call('POST', '/svc/config/locations/default/ssd')).toEqual([200, { message: expect.any(String) }])
      expect((await config()).defaultLocationName).toBe('ssd')
      expect(await shell('config', 'locations', 'default', 'home')).toEqual({ message: expect.any(String) })
      expect((await config()).defaultLocationName).toBe('home')
      await call('DELETE', '/svc/config/locations/ssd')
    }),
  )

  test(
    'refuse names and folders that cannot be, and what exists already',
    proving(['vmhost.locations.add.refused'], async () => {
      const path = join(host.home, 'one')
      expect((await call('POST', '/svc/config/locations', { name: 'one', path }))[0]).toBe(200)
      const before = await config()
      for (const [body, code] of [
        [{ name: 'one', path: join(host.home, 'two') }, 'location_exists'],
        [{ name: 'home', path: join(host.home, 'two') }, 'location_exists'],
        [{ name: 'ephemeral', path: join(host.home, 'two') }, 'location_exists'],
        [{ name: 'two', path: join(host.home, 'data/ephemeral') }, 'location_exists'],
        [{ name: 'two', path }, 'location_exists'],
        [{ name: 'two', path: `${path}/.` }, 'location_exists'],
        [{ name: 'two', path: 'two' }, 'invalid_directory'],
        [{ name: 'two', path: '/proc/two' }, 'invalid_directory'],
        [{ name: 'two' }, 'invalid_body'],
        [{ name: '../two', path: join(host.home, 'two') }, 'invalid_body'],
        [{ name: '', path: join(host.home, 'two') }, 'invalid_body'],
        ['', 'invalid_body'],
      ] as const) {
        const [status, answer] = await call('POST', '/svc/config/locations', body)
        expect([body, status, answer.code]).toEqual([body, 400, code])
      }
      expect(existsSync(join(host.home, 'two'))).toBe(false)
      expect(await config()).toEqual(before)
      const again = await host.host('config', 'locations', 'add', 'one', path)
      expect([again.status, again.stdout]).toEqual([1, ''])
      expect(again.stderr).toContain('"one"')
      await call('DELETE', '/svc/config/locations/one')
    }),
  )

  test(
    'are not removed when unknown, default or the home directory',
    proving(['vmhost.locations.remove.refused', 'vmhost.locations.default.refused'], async () => {
      await call('POST', '/svc/config/locations', { name: 'main', path: join(host.home, 'main') })
      await call('POST', '/svc/config/locations/default/main')
      expect(await call('DELETE', '/svc/config/locations/main')).toEqual([
        400,
        expect.objectContaining({
          code: 'location_not_removable',
          message: "Cannot remove the default location 'main'. Set a new default location first.",
        }),
      ])
      expect((await call('DELETE', '/svc/config/locations/home'))[1].code).toBe('location_not_removable')
      for (const method of ['DELETE', 'POST'] as const) {
        const path = `/svc/config/locations/${method === 'POST' ? 'default/' : ''}`
        expect(await call(method, `${path}nothing`)).toEqual([
          400,
          expect.objectContaining({ code: 'location_not_found' }),
        ])
        expect(await call(method, `${path}..%2Fhome`)).toEqual([
          400,
          expect.objectContaining({ code: 'invalid_argument' }),
        ])
      }
      expect((await config()).defaultLocationName).toBe('main')
      await call('POST', '/svc/config/locations/default/home')
      await call('DELETE', '/svc/config/locations/main')
    }),
  )
})

describe('a damaged settings file', () => {
  test(
    'is named in every answer and left alone',
    proving(['vmhost.config.get.refused', 'vmhost.locations.list.refused'], async () => {
      await using other = await startVmHost()
      const file = join(other.home, 'config/vmhost.json')
      await mkdir(join(other.home, 'config'), { recursive: true })
      await writeFile(file, '{"homeDirectory":')
      for (const [method, path] of [
        ['GET', '/config'],
        ['POST', '/config'],
        ['GET', '/config/locations'],
        ['POST', '/config/locations'],
        ['DELETE', '/config/locations/home'],
        ['POST', '/config/locations/default/home'],
      ] as const) {
        const body =
          method === 'POST' ? { body: JSON.stringify({ name: 'x', path: '/tmp/x', cachingEnabled: true }) } : {}
        const answer = await fetch(`${other.url}/svc${path}`, { method, ...body })
        expect([method, path, answer.status, await answer.json()]).toEqual([
          method,
          path,
          400,
          expect.objectContaining({ code: 'config_unreadable', message: expect.stringContaining(`"${file}"`) }),
        ])
      }
      expect(await Bun.file(file).text()).toBe('{"homeDirectory":')
    }),
  )

  test('that is a folder, or whose folder cannot be made, is a failure with its own code', async () => {
    await using other = await startVmHost()
    const change = async () => {
      const answer = await fetch(`${other.url}/svc/config`, { method: 'POST', body: '{"cachingEnabled":false}' })
      return [answer.status, ((await answer.json()) as Json).code]
    }
    // Permissions do not keep root from writing; these keep everybody.
    await symlink('/proc/nothing', join(other.home, 'config'))
    expect(await change()).toEqual([400, 'config_not_written'])
    await rm(join(other.home, 'config'))
    await mkdir(join(other.home, 'config/vmhost.json'), { recursive: true })
    expect(await change()).toEqual([400, 'config_unreadable'])
  })
})
