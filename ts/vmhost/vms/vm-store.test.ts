import { afterAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Failure } from '@backlot/contract/failure'
import { core } from '../core.ts'
import { FileLocks } from '../files/file-locks.ts'
import { SettingsFile } from '../host/settings.ts'
import { newIdentity, type VmSettings, writeNewSettings, writeVmSettings } from './vm-settings.ts'
import { VmStore } from './vm-store.ts'

const root = mkdtempSync(join(tmpdir(), 'backlot-store-'))
let home: string
let reported: Failure[]

beforeEach(() => {
  home = mkdtempSync(join(root, 'home-'))
  reported = []
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

const settings = (): VmSettings => ({
  os: 'linux',
  guestOs: 'linux',
  cpu: 1,
  memoryBytes: 2 ** 25,
  display: { width: 800, height: 600 },
  ...newIdentity(),
  network: 'none',
  ports: [],
  createdAt: '',
})

/** The locks of a service. */
const locks = () => new FileLocks((path) => core().FileLock.take(path) ?? undefined)

const store = () =>
  new VmStore(
    new SettingsFile(join(home, 'vmhost.json'), {
      homeDirectory: join(home, 'vms'),
      cacheDirectory: join(home, 'cache'),
    }),
    join(home, 'data'),
    locks(),
    (failure) => reported.push(failure),
  )

const make = (name: string) => async (vms: VmStore) =>
  vms.make(await vms.target(undefined), name, (folder) => writeNewSettings(folder, settings()))

const inHome = () => readdirSync(join(home, 'vms')).sort()

test('a VM is there when it is whole, and not before', async () => {
  const vms = store()
  const place = await vms.make(await vms.target(undefined), 'one', async (folder) => {
    await writeNewSettings(folder, settings())
    expect(await vms.list(await vms.storages(undefined))).toEqual([])
    await expect(vms.find('one', undefined)).rejects.toMatchObject({ code: 'vm_not_found' })
  })
  expect((await vms.find('one', undefined)).path).toBe(place.path)
  expect(inHome()).toEqual(['one'])
})

test('one that cannot be filled leaves nothing, and of two of the same name one is made', async () => {
  const vms = store()
  const target = await vms.target(undefined)
  await expect(vms.make(target, 'one', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(inHome()).toEqual([])
  const both = await Promise.allSettled([make('one')(vms), make('one')(vms)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'vm_exists' } })
  expect(inHome()).toEqual(['one'])
})

test('files that are not of a VM stay beside it, and its name is free', async () => {
  const vms = store()
  const { path } = await make('one')(vms)
  writeFileSync(join(path, 'notes'), 'mine')
  expect(await vms.remove(await vms.find('one', undefined))).toBe(`${path}.left`)
  expect(readdirSync(`${path}.left`)).toEqual(['notes'])
  await make('one')(vms)
  mkdirSync(join(path, 'mine'))
  expect(await vms.remove(await vms.find('one', undefined))).toBe(`${path}.left-2`)
  await make('one')(vms)
  expect(await vms.remove(await vms.find('one', undefined))).toBeUndefined()
  await expect(vms.find('one', undefined)).rejects.toMatchObject({ code: 'vm_not_found' })
})

test('what a service that died has left is swept away, but not what another is at work on', async () => {
  const vms = store()
  const { path } = await make('one')(vms)
  for (const file of ['.disk.next', '..disk.next.new-12-3', `.${crypto.randomUUID()}.tmp`, '.mine.tmp']) {
    writeFileSync(join(path, file), '')
  }
  const [half, gone, busy] = [
    `.new-${crypto.randomUUID()}`,
    `.gone-${crypto.randomUUID()}.two`,
    `.new-${crypto.randomUUID()}`,
  ]
  for (const folder of [half, gone, busy]) {
    mkdirSync(join(home, 'vms', folder))
    await writeVmSettings(join(home, 'vms', folder), settings())
  }
  writeFileSync(join(home, 'vms', gone, 'notes'), 'mine')
  const lock = locks().tryTake(join(home, 'vms', busy, 'work.lock'))
  expect(lock).toBeDefined()
  const storages = await vms.storages(undefined)
  expect(await vms.hasRemains(storages)).toBe(true)
  await vms.sweep(storages)
  expect(inHome()).toEqual([busy, 'one', 'two.left'].sort())
  expect(readdirSync(join(home, 'vms/two.left'))).toEqual(['notes'])
  expect(readdirSync(path).sort()).toEqual(['.mine.tmp', 'vm.json'])
  lock?.[Symbol.dispose]()
  await vms.sweep(storages)
  expect(inHome()).toEqual(['one', 'two.left'])
  expect(await vms.hasRemains(storages)).toBe(false)
})

test('a VM that another service works on keeps the files that it is going to rename', async () => {
  const vms = store()
  const { path } = await make('one')(vms)
  const next = join(path, `.${crypto.randomUUID()}.tmp`)
  writeFileSync(next, '')
  const storages = await vms.storages(undefined)
  {
    using lock = locks().tryTake(join(path, 'work.lock'))
    expect(lock).toBeDefined()
    await vms.sweep(storages)
    expect(existsSync(next)).toBe(true)
  }
  await vms.sweep(storages)
  expect(readdirSync(path)).toEqual(['vm.json'])
})

test('while a VM is made, and until what is left of that is done, nobody else can work on it', async () => {
  const vms = store()
  const other = locks()
  const isFree = (folder: string) => {
    using lock = other.tryTake(join(folder, 'work.lock'))
    return lock !== undefined
  }
  const seen: boolean[] = []
  const fill = async (folder: string) => {
    seen.push(isFree(folder))
    await writeNewSettings(folder, settings())
  }
  const { path } = await vms.make(await vms.target(undefined), 'one', fill, async ({ path }) => {
    seen.push(isFree(path))
  })
  seen.push(isFree(path))
  expect(seen).toEqual([false, false, true])
  expect(readdirSync(path)).toEqual(['vm.json'])
})

test('a symbolic link gives no VM another name, and says where it leads', async () => {
  const vms = store()
  await make('one')(vms)
  symlinkSync('one', join(home, 'vms/alias'))
  expect((await vms.list(await vms.storages(undefined))).map(({ name }) => name)).toEqual(['one'])
  expect(reported.map(({ message }) => message)).toEqual([expect.stringContaining('symbolic link to "one"')])
  await expect(vms.find('alias', undefined)).rejects.toMatchObject({
    code: 'vm_not_found',
    data: { detail: expect.stringContaining('symbolic link to "one"') },
  })
  await expect(make('alias')(vms)).rejects.toMatchObject({ code: 'vm_exists' })
})

test('a damaged VM is told, and is not among those that can be read', async () => {
  const vms = store()
  await make('one')(vms)
  mkdirSync(join(home, 'vms/torn'))
  writeFileSync(join(home, 'vms/torn/vm.json'), '{}')
  expect((await vms.list(await vms.storages(undefined))).map(({ name }) => name)).toEqual(['one'])
  expect(reported.map(({ code }) => code)).toEqual(['vm_damaged'])
})
