import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Host } from '../host/host.ts'
import { type SavedState, writeSaved } from '../snapshots/saved-state.ts'
import { vmPath } from '../vms/vm-directory.ts'
import { placeOf } from '../vms/vm-store.ts'
import { WarmPools } from './warm-pools.ts'

test('a pool makes no fork of the next VM of a name', async () => {
  const path = mkdtempSync(join(tmpdir(), 'backlot-pools-'))
  const vm = placeOf({ name: 'home', path }, 'vm')
  mkdirSync(vm.path)
  writeFileSync(vmPath(vm.path, 'memory'), '')
  const saved = { memoryBytes: 1, hasDisplay: false, sharedDirectories: null, savedAt: new Date().toISOString() }
  const machine = { hypervisor: 'qemu', version: '7', machineType: 'pc', accelerator: 'tcg' } as const
  await writeSaved(vm.path, { ...machine, ...saved } satisfies SavedState)
  const begun: string[] = []
  const begin = (kind: string) => {
    begun.push(kind)
    return { done: Promise.resolve() }
  }
  await using pools = new WarmPools(
    () => ({ operations: { begin }, machines: { get: () => undefined } }) as never as Host,
  )
  // It was said of a VM whose folder, and its size in it, is gone.
  pools.keep(vm, 1)
  for (let look = 0; look < 100; look++) await Bun.sleep(1)
  expect(begun).toEqual([])
  pools.stop()
  rmSync(path, { recursive: true })
})
