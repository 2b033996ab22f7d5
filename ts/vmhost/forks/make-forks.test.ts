import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Host } from '../host/host.ts'
import { isSaved, type SavedState } from '../snapshots/saved-state.ts'
import { vmPath } from '../vms/vm-directory.ts'
import { newIdentity } from '../vms/vm-settings.ts'
import { placeOf, type StoredVm } from '../vms/vm-store.ts'
import { makeForks } from './make-forks.ts'

test('no fork has its name before the disk of its VM is no longer the base', async () => {
  const path = mkdtempSync(join(tmpdir(), 'backlot-forks-'))
  const parent = placeOf({ name: 'home', path }, 'parent')
  mkdirSync(parent.path)
  writeFileSync(vmPath(parent.path, 'memory'), '')
  const steps: string[] = []
  const names = ['one', 'two']
  const replace = async () => {
    // Long after the files of both are there.
    while (!names.every((name) => isSaved(join(path, name)))) await Bun.sleep(1)
    for (let look = 0; look < 50; look++) await Bun.sleep(1)
    steps.push('replaced')
  }
  const host = {
    bases: {
      exclusively: (_storage: unknown, work: () => Promise<void>) => work(),
      freeze: async () => ({ base: { file: 'base', format: 'qcow2' }, replaced: replace() }),
      overlay: async (disk: string) => writeFileSync(disk, ''),
    },
    store: {
      make: async (_storage: unknown, name: string, fill: (folder: string) => Promise<void>) => {
        mkdirSync(join(path, name))
        await fill(join(path, name))
        steps.push('named')
      },
    },
  } as unknown as Host
  const vm = { ...parent, settings: newIdentity() } as StoredVm
  const saved = { savedAt: new Date().toISOString() } as SavedState
  await makeForks(host, vm, saved, { names }, new AbortController().signal)
  expect(steps).toEqual(['replaced', 'named', 'named'])
  rmSync(path, { recursive: true })
})
