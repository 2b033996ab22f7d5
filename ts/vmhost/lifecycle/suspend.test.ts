import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSaved } from '../snapshots/saved-state.ts'
import { vmPath } from '../vms/vm-directory.ts'
import { newIdentity, readVmSettings, type VmSettings, writeVmSettings } from '../vms/vm-settings.ts'
import { optionsFor } from './suspend.ts'

test('a fork whose memory is discarded before it went on has nothing left of its parent to give up', async () => {
  const path = mkdtempSync(join(tmpdir(), 'backlot-suspend-'))
  try {
    const own: VmSettings = {
      ...{ os: 'linux', guestOs: 'linux', cpu: 1, memoryBytes: 2 ** 25, network: 'nat', ports: [], createdAt: '' },
      ...{ display: { width: 800, height: 600 }, ...newIdentity() },
    }
    const settings = { ...own, identity: 'shared', guestMacAddress: '52:54:00:00:00:01' } as const
    await writeVmSettings(path, settings)
    for (const file of ['saved', 'memory'] as const) writeFileSync(vmPath(path, file), '{}')
    const storage = { name: 'home', path: tmpdir() }
    const options = { hasDisplay: false, sharedDirectories: [] }
    const host = { log: { write: () => undefined } } as never
    const vm = { name: 'fork', path, storage, settings } as never
    expect(await optionsFor(host, vm, options, true)).toEqual(options)
    expect([isSaved(path), await readVmSettings(path)]).toEqual([false, own])
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
})
