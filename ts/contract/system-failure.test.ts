import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { failureOf } from './system-failure.ts'

const folder = mkdtempSync(join(tmpdir(), 'bl-refused-'))
afterAll(() => rmSync(folder, { recursive: true }))

const thrownBy = (work: () => void): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

test('what the system refuses is named, with why and the way out', () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const below = join(file, 'folder')
  expect(failureOf(thrownBy(() => mkdirSync(below)))).toMatchObject({
    code: 'storage_unusable',
    message: `"${below}" cannot be used: what should be a folder on the way is a file (mkdir). Change its rights, or let BACKLOT_HOME name a folder of your own.`,
    data: { path: below },
  })
  const nowhere = thrownBy(() => mkdtempSync('/nowhere/bl-'))
  expect(failureOf(nowhere).message).toContain('Let TMPDIR name one that exists.')
})

test('a full disk is named, and so is an output that has no room', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' })
  expect(failureOf(full)).toMatchObject({
    code: 'disk_full',
    message: expect.stringContaining('where the output goes'),
  })
  expect(failureOf(Object.assign(full, { path: '/full/file' })).message).toContain('for "/full/file"')
})

test('what is refused otherwise, and what is a failure already, stays as it is', () => {
  const spawned = Object.assign(new Error('EACCES: permission denied, posix_spawn'), {
    code: 'EACCES',
    syscall: 'spawn /bin/x',
    path: '/bin/x',
  })
  expect(failureOf(spawned)).toMatchObject({ code: 'internal', message: spawned.message })
  const known = new Failure('cancelled', 'It was.')
  expect(failureOf(known)).toBe(known)
})
