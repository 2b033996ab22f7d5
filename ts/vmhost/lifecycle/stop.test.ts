import { expect, test } from 'bun:test'
import type { Ending } from '@backlot/contract/vmhost/vm'
import type { Machine } from '../hypervisors/hypervisor.ts'
import { stop } from './stop.ts'

const ending: Ending = { cause: 'test', expected: true, at: '' }
const patience = { guestMs: 20, processMs: 20 }

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
  expect(await stop(fakeMachine('question', 'agent'), patience)).toBe('agent')
  expect(await stop(fakeMachine('question', 'acpi'), patience)).toBe('acpi')
})

test('one that does not, or cannot be asked, is', async () => {
  expect(await stop(fakeMachine('kill', 'agent'), patience)).toBe('forced')
  expect(await stop(fakeMachine('kill', undefined), patience)).toBe('forced')
})

test('a process that outlives everything is a failure that names it', async () => {
  await expect(stop(fakeMachine('nothing'), patience)).rejects.toMatchObject({
    code: 'vm_not_stopped',
    data: { name: 'fake', pid: 1 },
  })
})
