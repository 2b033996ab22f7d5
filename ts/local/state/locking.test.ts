import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SandboxFolder } from './folder.ts'
import { lock } from './locking.ts'

test('a sandbox that another program changes is busy, and no more when it lets go', async () => {
  const folder = new SandboxFolder(mkdtempSync(join(tmpdir(), 'local-lock-')), 'held')
  const holder = Bun.spawn(['flock', folder.lock, 'sh', '-c', 'echo locked; cat'], { stdin: 'pipe', stdout: 'pipe' })
  await holder.stdout.getReader().read()
  expect(await lock(folder, 20).catch((error) => [error.code, error.data])).toEqual(['sandbox_busy', { name: 'held' }])
  const waiting = lock(folder)
  holder.stdin.end()
  await holder.exited
  const taken = await waiting
  taken.release()
  rmSync(folder.base, { recursive: true })
})
