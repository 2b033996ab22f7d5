import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Events } from '../host/events.ts'
import type { Host } from '../host/host.ts'
import { LogFile } from '../host/log-file.ts'
import { Machines } from '../host/machines.ts'
import { Operations } from '../host/operations.ts'
import type { Hypervisor, Machine } from '../hypervisors/hypervisor.ts'
import { qemuFeatures } from '../hypervisors/qemu/features.ts'
import { vmRecord } from './record.ts'
import { newIdentity } from './vm-settings.ts'
import type { StoredVm } from './vm-store.ts'

test('a VM that starts while its record is made is running with its address, or not yet running', async () => {
  const path = mkdtempSync(join(tmpdir(), 'backlot-record-'))
  const vm: StoredVm = {
    name: 'one',
    path,
    storage: { name: 'home', path },
    settings: {
      ...newIdentity(),
      ...{ os: 'linux', guestOs: 'linux', cpu: 1, memoryBytes: 2 ** 28, network: 'nat', ports: [], createdAt: '' },
      display: { width: 800, height: 600 },
    },
  }
  const machine = { place: vm, pid: 7, ipAddress: '127.77.0.1', forwards: [], ended: new Promise(() => {}) }
  const fake: Hypervisor = {
    name: 'fake',
    features: qemuFeatures,
    start: () => Promise.reject(new Error('not asked for')),
    share: () => Promise.reject(new Error('not asked for')),
    adopt: async () => machine as unknown as Machine,
    lives: () => true,
    identity: async () => 'none',
    end: () => Promise.reject(new Error('not asked for')),
  }
  const events = new Events('run', 10)
  const machines = new Machines(fake, events, new LogFile(join(path, 'log'), 1_000, () => undefined), () => undefined)
  const host = { machines, operations: new Operations(events, () => {}) } as unknown as Host
  const made = vmRecord(vm, host)
  await machines.adopt(vm)
  const { status, pid, ipAddress } = await made
  expect([status, pid, ipAddress]).toEqual(['running', 7, '127.77.0.1'])
  rmSync(path, { recursive: true })
})
