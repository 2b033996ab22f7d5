import { expect, test } from 'bun:test'
import { failureOf } from './start-failures.ts'

/** As QEMU 7.2 writes them. */
const said: Readonly<Record<string, string>> = {
  "qemu-system-x86_64: -netdev user,id=net0: Could not set up host forwarding rule 'tcp:127.77.1.1:22-:22'":
    'port_in_use',
  'qemu-system-x86_64: -vnc 127.0.0.1:0,to=1: Failed to find an available port: Address already in use': 'port_in_use',
  'qemu-system-x86_64: -blockdev {}: Failed to get "write" lock': 'disk_in_use',
  'qemu-system-x86_64: -blockdev {}: Image is not in qcow2 format': 'disk_corrupt',
  'qemu-system-x86_64: -blockdev {}: qcow2: Image is corrupt; cannot be opened read/write': 'disk_corrupt',
  "qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory": 'host_memory',
  'qemu-system-x86_64: -chardev file: Could not open: No space left on device': 'disk_full',
  'qemu-system-x86_64: -device nothing: not a valid device model name': 'hypervisor_failed',
}

test('what QEMU complains of has a code, and its words stand in the message', () => {
  const codes = Object.keys(said).map((line) => [line, failureOf('one', ['warning: x', line], 'status 1').code])
  expect(codes).toEqual(Object.entries(said))
  expect(failureOf('one', ['2026-01-01T00:00:00Z qemu-system-x86_64: -m: too much'], '').message).toBe(
    'The VM "one" did not start: -m: too much. Its `hypervisor.log` has all of it.',
  )
})

test('one that says nothing is told by how it ended', () => {
  expect(failureOf('one', ['a: warning: odd'], 'it ended with SIGKILL')).toMatchObject({
    code: 'hypervisor_failed',
    message: expect.stringContaining('it ended with SIGKILL'),
  })
})
