import { expect, test } from 'bun:test'
import { closeSync, readlinkSync } from 'node:fs'
import { ownerOfNetwork } from './namespace-owner.ts'

const started = async (...words: [string, ...string[]]) => {
  const child = Bun.spawn(words, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  const { value } = await child.stdout.getReader().read()
  return { child, pid: Number(new TextDecoder().decode(value)) }
}

test('the user namespace that owns a network is told, not the one of who is in it', async () => {
  // The second one is in the network of the first, and in a user namespace below it.
  const script = 'unshare --user --map-current-user sh -c "echo \\$\\$; read line"'
  const words = [
    'unshare',
    '--user',
    '--map-root-user',
    '--net',
    'sh',
    '-c',
    `readlink /proc/self/ns/user >&2; ${script}`,
  ]
  const outer = Bun.spawn(words, { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
  const { value } = await outer.stdout.getReader().read()
  const pid = Number(new TextDecoder().decode(value))
  const owner = ownerOfNetwork(pid)
  const told = readlinkSync(`/proc/self/fd/${owner}`)
  closeSync(owner)
  expect(told).not.toBe(readlinkSync(`/proc/${pid}/ns/user`))
  outer.stdin.end()
  expect(told).toBe((await outer.stderr.text()).trim())
  await outer.exited
})

test('a process that has ended has no network', async () => {
  const { child, pid } = await started('sh', '-c', 'echo $$')
  await child.exited
  expect(() => ownerOfNetwork(pid)).toThrow()
})
