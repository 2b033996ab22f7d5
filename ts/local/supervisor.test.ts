import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox } from './sandboxes.ts'
import { startSandbox } from './supervisor.ts'

const wanted = {
  name: 'cut',
  ephemeral: true,
  isolation: 'none',
  network: 'internet',
  mounts: [],
  cpu: null,
  memoryMb: null,
  diskGb: null,
  size: '640x480',
  labels: {},
  env: {},
  ttlMs: null,
  wantedDistro: null,
  isStrict: false,
  isUnisolated: true,
  source: null,
} as const

// Of the level `none`, whose first program no argument tells from others: of other levels that is so for a moment.
test('a start that is given up as its first program begins ends it', async () => {
  const base = mkdtempSync(join(tmpdir(), 'local-cut-'))
  const { folder, record, lock } = await createSandbox(base, wanted)
  const executable = { command: ['/bin/sh', '-c', 'exec sleep infinity'], parts: [], variables: {} } as const
  const options = { folder, record, executable, timeoutMs: 60_000, signal: AbortSignal.abort() }
  expect(await startSandbox(options).catch((error) => error.code)).toBe('cancelled')
  expect(readdirSync(folder.path)).not.toContain('run.json')
  await folder.remove()
  lock.release()
  rmSync(base, { recursive: true })
})
