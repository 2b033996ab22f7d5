import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { core } from '../core.ts'
import { FileLocks } from '../files/file-locks.ts'
import { KeyedLock } from '../host/keyed-lock.ts'
import { executableDisk } from './executable-disk.ts'

test('VMs that are made at the same time are given one whole disk with the executable', async () => {
  const cache = mkdtempSync(join(tmpdir(), 'backlot-executable-'))
  const executable = join(cache, 'program')
  writeFileSync(executable, Buffer.alloc(2 ** 20, 'x'))
  const locks = new FileLocks((path) => core().FileLock.take(path) ?? undefined)
  const host = { executable, locks, turns: new KeyedLock() }
  const disk = () => executableDisk(host, cache, new AbortController().signal)
  const [path = '', ...others] = await Promise.all([disk(), disk(), disk()])
  expect(others).toEqual([path, path])
  expect(readdirSync(dirname(path))).toHaveLength(1)
  const inside = Bun.spawn(['/sbin/debugfs', '-R', 'cat /backlot', path], { stdout: 'pipe', stderr: 'ignore' })
  expect((await inside.stdout.bytes()).length).toBe(statSync(executable).size)
  rmSync(cache, { recursive: true })
})
