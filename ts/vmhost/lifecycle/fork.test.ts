import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { Events } from '../host/events.ts'
import { KeyedLock } from '../host/keyed-lock.ts'
import { LogFile } from '../host/log-file.ts'
import { Machines } from '../host/machines.ts'
import { Operations } from '../host/operations.ts'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { newIdentity, type VmSettings, writeNewSettings } from '../vms/vm-settings.ts'
import { placeOf, VmStore } from '../vms/vm-store.ts'
import { forkVm } from './fork.ts'

const settings: Omit<VmSettings, keyof ReturnType<typeof newIdentity>> = {
  ...{ os: 'linux', guestOs: 'linux', cpu: 1, memoryBytes: 2 ** 28, network: 'nat', ports: [], createdAt: '' },
  display: { width: 800, height: 600 },
}

test('what a fork that fails was handed is ended and removed, and nothing that took its place', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-fork-'))
  const storage = { name: 'home', path: folder }
  const events = new Events('run', 10)
  const log = new LogFile(join(folder, 'log'), 1_000, () => undefined)
  const locks = { take: async () => ({ [Symbol.dispose]() {} }) }
  const store = new VmStore(undefined as never, folder, locks as never, () => {})
  const live = new Set<string>()
  const machineOf = (place: Machine['place']) => {
    const { promise, resolve } = Promise.withResolvers<never>()
    live.add(place.name)
    const kill = async () => (live.delete(place.name) ? resolve(undefined as never) : undefined)
    return { place, pid: 1, ended: promise.then(() => ({ expected: true, cause: '', at: '' })), kill }
  }
  const hypervisor = { adopt: async (place: Machine['place']) => machineOf(place), lives: () => false } as never
  const machines = new Machines(hypervisor, events, log, () => undefined)
  const make = async (name: string) => {
    const place = placeOf(storage, name)
    mkdirSync(place.path, { recursive: true })
    await writeNewSettings(place.path, { ...settings, ...newIdentity() })
    await machines.adopt(await store.reread(place))
  }
  await make('parent')
  const take = async (_parent: unknown, { name }: { name: string }) => {
    if (name === 'third') {
      // Somebody deletes one and makes another of its name.
      rmSync(placeOf(storage, 'second').path, { recursive: true })
      await make('second')
      throw new Failure('host_memory', 'There is no room.', { name })
    }
    await make(name)
    return 'own'
  }
  const host = {
    ...{ events, log, machines, locks, pools: { take }, turns: new KeyedLock(), lockHome: async () => {} },
    ...{ operations: new Operations(events, () => {}), bases: { collect: async () => {} } },
    store: Object.assign(store, { find: () => store.reread(placeOf(storage, 'parent')) }),
  }
  const forked = forkVm({ name: 'parent', names: ['first', 'second', 'third'] }, host as never)
  expect(await forked.catch((error) => error.code)).toBe('host_memory')
  expect([...live]).toEqual(['parent', 'second'])
  expect(['parent', 'first', 'second'].map((name) => existsSync(join(folder, name)))).toEqual([true, false, true])
  rmSync(folder, { recursive: true })
})
