import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tryLock } from './lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'backlot-lock-'))

afterAll(() => rmSync(folder, { recursive: true }))

test('one at a time holds a lock, and its file goes with it', async () => {
  const path = join(folder, 'thing')
  const lock = await tryLock(path)
  expect(lock).toBeDefined()
  expect(await tryLock(path)).toBeUndefined()
  expect(await tryLock(join(folder, 'other'))).toBeDefined()
  lock?.release()
  lock?.release()
  expect(existsSync(`${path}.lock`)).toBe(false)
  const next = await tryLock(path)
  expect(next).toBeDefined()
  next?.release()
})

test('the lock of a process that was killed can be taken', async () => {
  const path = join(folder, 'crashed')
  const source = `const { tryLock } = await import('${import.meta.dir}/lock.ts'); await tryLock('${path}'); console.log('held'); await Bun.sleep(1e6)`
  const holder = Bun.spawn([process.execPath, '-e', source], { stdout: 'pipe' })
  await holder.stdout.getReader().read()
  expect(await tryLock(path)).toBeUndefined()
  holder.kill('SIGKILL')
  await holder.exited
  expect(existsSync(`${path}.lock`)).toBe(true)
  const lock = await tryLock(path)
  expect(lock).toBeDefined()
  lock?.release()
})

test('a file that others may hold or have put there is no lock', async () => {
  const path = join(folder, 'strange')
  writeFileSync(join(folder, 'elsewhere'), '')
  symlinkSync(join(folder, 'elsewhere'), `${path}.lock`)
  await expect(tryLock(path)).rejects.toThrow()
})
