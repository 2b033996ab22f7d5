import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ending } from '@backlot/contract/vmhost/vm'
import { Events } from '../host/events.ts'
import { KeyedLock } from '../host/keyed-lock.ts'
import { LogFile } from '../host/log-file.ts'
import { Machines } from '../host/machines.ts'
import { Operations } from '../host/operations.ts'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { type SavedState, writeSaved } from '../snapshots/saved-state.ts'
import { takeSnapshot } from './snapshot.ts'
import { stop as stopSince, stopVm } from './stop.ts'
import { suspendVm } from './suspend.ts'

const ending: Ending = { cause: 'test', expected: true, at: '' }
const patience = { guestMs: 20, askAgainMs: 20, processMs: 20, inAllMs: 60_000 }
const hours = 10_000_000

const stop = (machine: Machine) => stopSince(machine, performance.now(), patience)

/** A machine that does what `obeys` says: nothing, to be killed, or to shut down when asked. */
const fakeMachine = (obeys: 'nothing' | 'kill' | 'question', way: 'agent' | 'acpi' | undefined = 'acpi') => {
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const machine = {
    place: { name: 'fake', path: '/fake', storage: { name: 'home', path: '/' } },
    pid: 1,
    ended: promise,
    async askToShutDown() {
      if (obeys === 'question') resolve(ending)
      return way
    },
    async kill() {
      if (obeys === 'kill') resolve(ending)
      await promise
    },
  }
  return machine as unknown as Machine
}

test('a guest that shuts down is not ended by force', async () => {
  expect(await stop(fakeMachine('question', 'agent'))).toBe('agent')
  expect(await stop(fakeMachine('question', 'acpi'))).toBe('acpi')
})

test('one that does not, or cannot be asked, is', async () => {
  expect(await stop(fakeMachine('kill', 'agent'))).toBe('forced')
  expect(await stop(fakeMachine('kill', undefined))).toBe('forced')
})

test('one that is coming up and does not hear the first question is asked again', async () => {
  let questions = 0
  const machine = fakeMachine('question')
  const { askToShutDown } = machine
  const slow = Object.assign(machine, {
    askToShutDown: async () => (++questions < 3 ? 'acpi' : askToShutDown.call(machine)),
  })
  expect(await stopSince(slow, performance.now(), { ...patience, guestMs: hours, askAgainMs: 1, inAllMs: hours })).toBe(
    'acpi',
  )
  expect(questions).toBe(3)
})

test('a process that outlives everything is a failure that names it', async () => {
  await expect(stop(fakeMachine('nothing'))).rejects.toMatchObject({
    code: 'vm_not_stopped',
    data: { name: 'fake', pid: 1 },
  })
})

test('who has waited long for it waits for no guest, whether that hears the question or not', async () => {
  const hasty = { guestMs: hours, askAgainMs: hours, processMs: 20, inAllMs: 20 }
  expect(await stopSince(fakeMachine('kill', 'acpi'), performance.now() - hours, hasty)).toBe('forced')
  const deaf = Object.assign(fakeMachine('kill'), { askToShutDown: () => new Promise<never>(() => {}) })
  expect(await stopSince(deaf, performance.now(), hasty)).toBe('forced')
})

/** A host with one VM that runs, whose memory is saved before anybody can cancel that; it goes on as another machine. */
const savingHost = async (path: string) => {
  const settings = { guestOs: 'linux', guestMacAddress: 'one of its own' }
  const place = { name: 'fake', path, storage: { name: 'home', path }, settings }
  const machineOf = () => Object.assign(fakeMachine('kill'), { place })
  const [isSaving, isCancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const first = Object.assign(machineOf(), {
    async suspend({ signal }: { signal: AbortSignal }) {
      signal.addEventListener('abort', () => isCancelled.resolve())
      isSaving.resolve()
      await isCancelled.promise
      await writeSaved(path, saved)
      await first.kill()
    },
  })
  const later = machineOf()
  const start = async () => {
    rmSync(join(path, 'saved.json'))
    return later
  }
  const events = new Events('run', 10)
  const log = new LogFile(join(path, 'log'), 1_000, () => undefined)
  const hypervisor = { start, adopt: async () => first, lives: () => false } as never
  const machines = new Machines(hypervisor, events, log, () => undefined)
  await machines.adopt(place as never)
  const host = {
    ...{ events, machines, operations: new Operations(events, () => {}), turns: new KeyedLock(), stopGraceMs: 20 },
    locks: { take: async () => ({ [Symbol.dispose]() {} }) },
    store: { find: async () => place, reread: async () => place },
    lockHome: async () => {},
  }
  return { host: host as never, machines, isSaving: isSaving.promise, later }
}

const saved: SavedState = {
  hypervisor: 'qemu',
  version: '7.2.22',
  machineType: 'pc-q35-7.2',
  accelerator: 'kvm',
  memoryBytes: 1,
  hasDisplay: false,
  sharedDirectories: null,
  savedAt: '2026-01-01T00:00:00.000Z',
}

test('a VM whose memory a snapshot has saved already is stopped once it has gone on', async () => {
  const path = mkdtempSync(join(tmpdir(), 'backlot-stop-'))
  const { host, machines, isSaving, later } = await savingHost(path)
  const taken = takeSnapshot({ name: 'fake', snapshot: 'one' }, host).catch((error) => error.code)
  await isSaving
  expect(await stopVm({ name: 'fake' }, host)).toMatchObject({ method: 'forced' })
  expect(await taken).toBe('cancelled')
  await later.ended
  expect(machines.count).toBe(0)
  rmSync(path, { recursive: true })
}, 60_000)

test('and nobody is told that one is stopped which is suspended by then', async () => {
  const path = mkdtempSync(join(tmpdir(), 'backlot-stop-'))
  const { host, isSaving } = await savingHost(path)
  const suspended = suspendVm({ name: 'fake' }, host)
  await isSaving
  expect(await stopVm({ name: 'fake' }, host).catch((error) => error.code)).toBe('vm_suspended')
  expect(await suspended).toMatchObject({ message: 'Virtual machine suspended: fake' })
  rmSync(path, { recursive: true })
}, 60_000)
