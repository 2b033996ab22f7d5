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

test('of what tar says only the last is kept, and an error before that is not forgotten', async () => {
  const place = { name: 'one', path: '/nowhere', settings: { guestOs: 'linux' } }
  const hypervisor = { name: 'qemu', features: qemuFeatures }
  const changes = Buffer.from('tar: ./log: file changed as we read it\n'.repeat(2_000))
  const read = async (first: string, status: number) => {
    const output = async function* () {
      yield { stream: 'stderr', bytes: Buffer.from(first) }
      for (let count = 0; count < 100; count++) yield { stream: 'stderr', bytes: changes }
      return status
    }
    const guest = { execute: async () => ({ exitCode: 0 }), stream: async () => output() }
    const machines = { hypervisor, knows: () => true, status: () => 'running', get: () => ({ place, guest }) }
    const asked = { name: 'one', storage: undefined, path: '/a', mode: 0o644, makesParents: false }
    const host = { store: { find: async () => place }, machines } as never
    for await (const _ of await readFolder(host, { ...asked, signal: new AbortController().signal }));
  }
  await read('', 1)
  await read('tar: exit status is what tells\n', 0)
  const { message } = await read("tar: can't open 'b': I/O error\n", 1).catch((error) => error)
  expect(message).toContain('"/a" in the guest cannot be read')
  expect(message.length).toBeLessThan(4 * changes.length)
})
