import { expect, test } from 'bun:test'
import type { VmSettings } from '../../vm-settings.ts'
import { type Launch, qemuArguments } from './arguments.ts'
import { toldBy } from './told.ts'

const settings = {
  cpu: 2,
  memoryBytes: 2 ** 30,
  display: { width: 1024, height: 768 },
  macAddress: '52:54:00:01:02:03',
  uuid: '00000000-0000-4000-8000-000000000001',
  generationId: '00000000-0000-4000-8000-000000000002',
  network: 'nat',
} as VmSettings

const launch: Launch = {
  name: 'one, two',
  settings,
  files: {
    disk: '/vms/one/disk.qcow2',
    serial: '/vms/one/serial.log',
    pid: '/vms/one/hypervisor.pid',
    qmpSocket: '/run/a,b=c/1.qmp',
    agentSocket: '/run/,,/1.agent',
  },
  accelerator: 'tcg',
  hasDisplay: true,
  forwards: [
    { guestPort: 8000, address: '127.77.1.2', port: 8000 },
    { guestPort: 22, address: '127.77.1.2', port: 40022 },
  ],
  sharedDirectories: [
    { hostPath: '/srv/a,b=c,', tag: 'a-b', readOnly: true },
    { hostPath: '/home/ü x', tag: 'x', readOnly: false },
  ],
}

const says = (launch: Launch) => toldBy(['setpriv', '--reset-env', '/usr/bin/qemu', ...qemuArguments(launch)])

test('a command line tells how its VM was run, whatever commas stand in its paths', () => {
  expect(says(launch)).toEqual({
    uuid: settings.uuid,
    accelerator: 'tcg',
    memoryBytes: 2 ** 30,
    hasDisplay: true,
    forwards: [...launch.forwards],
    sharedDirectories: [...launch.sharedDirectories],
    qmpSocket: launch.files.qmpSocket,
    agentSocket: launch.files.agentSocket,
  })
})

test('a run without network, folders and display is told as one', () => {
  const bare = { ...launch, settings: { ...settings, network: 'none' as const }, hasDisplay: false }
  expect(says({ ...bare, accelerator: 'kvm', forwards: [], sharedDirectories: [] })).toMatchObject({
    accelerator: 'kvm',
    hasDisplay: false,
    forwards: [],
    sharedDirectories: [],
  })
})

test('words of other programs tell nothing', () => {
  for (const words of [[], ['sleep', '1'], ['qemu-system-x86_64', '-uuid', settings.uuid, '-m', '1G']]) {
    expect(toldBy(words)).toBeUndefined()
  }
})
