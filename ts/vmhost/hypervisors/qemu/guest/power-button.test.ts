import { expect, test } from 'bun:test'
import { Failure } from '@backlot/contract/failure'
import type { Qmp } from '../qmp.ts'
import { handlesPowerButton, hasAgent } from './power-button.ts'

/** A hypervisor that answers every command alike. */
const fakeQmp = (answer: unknown) =>
  ({
    async execute() {
      if (answer instanceof Error) throw answer
      return answer
    },
  }) as Pick<Qmp, 'execute'>

const shows = (value: string) => fakeQmp(`portw[0x0604] = ${value}\r\n`)

test('the power button is heard once a system has taken ACPI over', async () => {
  expect(await handlesPowerButton(shows('0x0001'))).toBe(true)
  expect(await handlesPowerButton(shows('0x1c01'))).toBe(true)
  expect(await handlesPowerButton(shows('0x0000'))).toBe(false)
  expect(await handlesPowerButton(shows('0xffff'))).toBe(false)
})

test('and where the hypervisor does not tell', async () => {
  expect(await handlesPowerButton(fakeQmp('unknown command'))).toBe(true)
  expect(await handlesPowerButton(fakeQmp(new Failure('hypervisor_refused', 'No such command.', {})))).toBe(true)
})

test('an agent is there while the guest has its port open', async () => {
  const ports = (isOpen: boolean) => [
    { label: 'qmp', 'frontend-open': true },
    { label: 'agent', 'frontend-open': isOpen },
  ]
  expect(await hasAgent(fakeQmp(ports(true)))).toBe(true)
  expect(await hasAgent(fakeQmp(ports(false)))).toBe(false)
})
