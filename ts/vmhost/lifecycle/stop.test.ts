import { expect, test } from 'bun:test'
import type { Ending } from '@backlot/contract/vmhost/vm'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { stop as stopSince } from './stop.ts'

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
