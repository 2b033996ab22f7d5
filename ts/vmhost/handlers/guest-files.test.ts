import { expect, test } from 'bun:test'
import { Failure } from '@backlot/contract/failure'
import { qemuFeatures } from '../hypervisors/qemu/features.ts'
import { isPacked, readFile, readFolder, writeFile, writeFolder } from './guest-files.ts'

test('files of a guest without Linux are refused with what it has, whole folders too', async () => {
  const place = { name: 'one', path: '/nowhere', settings: { guestOs: 'windows' } }
  const hypervisor = { name: 'qemu', features: qemuFeatures }
  const machines = { hypervisor, knows: () => true, status: () => 'running', get: () => ({ place, guest: {} }) }
  const host = { store: { find: async () => place }, machines } as never
  const asked = { name: 'one', storage: undefined, path: '/C:/Users', mode: 0o644, makesParents: false }
  const given = { ...asked, signal: new AbortController().signal }
  const nothing = async function* () {}
  for (const call of [
    () => readFile(host, given),
    () => readFolder(host, given),
    () => writeFile(host, given, nothing()),
    () => writeFolder(host, given, nothing()),
  ]) {
    const { code, message } = Failure.from(
      await call().then(
        () => undefined,
        (error) => error,
      ),
    )
    expect([code, message]).toEqual([
      'guest_file_failed',
      expect.stringContaining('"one" has windows. Copy over its network'),
    ])
  }
})

test('a folder of which a file was left out is not taken for whole, whichever tar the guest has', () => {
  const change = 'tar: ./log: file changed as we read it'
  for (const [status, said, isWhole] of [
    [0, 'tar: ./s: socket ignored\n', true],
    [1, `tar: ./s: socket ignored\n${change}\n`, true],
    [1, 'tar: ./log: File shrank by 12 bytes; padding with zeros\n', true],
    [1, '', false],
    [1, `${change}\ntar: can't open 'b': I/O error\ntar: error exit delayed from previous errors\n`, false],
    [2, 'tar: b: Cannot open: Input/output error\n', false],
    [127, change, false],
  ] as const)
    expect([status, said, isPacked(status, said)]).toEqual([status, said, isWhole])
})
