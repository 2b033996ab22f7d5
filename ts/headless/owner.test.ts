import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deadDesktops, folderName, ownerOf, thisProcess } from './owner.ts'

test('a folder name gives its owner back', () => {
  const owner = { namespace: 4026531836, pid: 12, startTicks: 3456 }
  expect(folderName(owner, 7)).toBe('desktop-4026531836-12-3456-7')
  expect(ownerOf('desktop-4026531836-12-3456-7')).toEqual(owner)
  expect(ownerOf('desktop-12-3456')).toBeNull()
  expect(ownerOf('driver.sock')).toBeNull()
})

test('only folders of dead owners in the same pid namespace are dead', () => {
  const runtime = mkdtempSync(join(tmpdir(), 'backlot-owner-'))
  const own = thisProcess()
  const names = {
    living: folderName(own, 1),
    dead: folderName({ ...own, startTicks: own.startTicks - 1 }, 1),
    elsewhere: folderName({ ...own, namespace: own.namespace + 1, startTicks: own.startTicks - 1 }, 1),
    foreign: 'daemon',
  }
  for (const name of Object.values(names)) mkdirSync(join(runtime, name))
  expect(deadDesktops(runtime)).toEqual([join(runtime, names.dead)])
  expect(deadDesktops(join(runtime, 'absent'))).toEqual([])
  rmSync(runtime, { recursive: true })
})
