import { afterAll, expect, test } from 'bun:test'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kinds, ownerOf } from './owner.ts'

const folder = mkdtempSync(join(tmpdir(), 'backlot-owner-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('owner, kind and permissions are those that node tells', async () => {
  const place = (name: string) => join(folder, name)
  writeFileSync(place('Grüße'), '', { mode: 0o640 })
  mkdirSync(place('shared'))
  chmodSync(place('shared'), 0o1777)
  symlinkSync('shared', place('link'))
  symlinkSync('nowhere', place('dangling'))
  const server = Bun.listen({ unix: place('socket'), socket: { data() {} } })
  for (const name of ['Grüße', 'shared', 'link', 'dangling', 'socket']) {
    const { uid, mode } = lstatSync(place(name))
    expect([name, ownerOf(place(name))]).toEqual([name, { uid, kind: mode & 0o170000, permissions: mode & 0o7777 }])
  }
  expect(['shared', 'link', 'socket'].map((name) => ownerOf(place(name))?.kind)).toEqual([
    kinds.folder,
    kinds.link,
    kinds.socket,
  ])
  expect(ownerOf('/etc/passwd')?.uid).toBe(0)
  server.stop()
})

test('what is not there has no owner, and what cannot be reached is an error', () => {
  expect(ownerOf(join(folder, 'absent'))).toBeUndefined()
  expect(ownerOf(join(folder, 'absent', 'below'))).toBeUndefined()
  writeFileSync(join(folder, 'file'), '')
  expect(() => ownerOf(join(folder, 'file', 'below'))).toThrow(/ENOTDIR/)
})
