import { expect, test } from 'bun:test'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { boundLog } from './bounded-log.ts'

test('a log that is too long keeps its end, and goes on there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-log-'))
  const path = join(folder, 'serial.log')
  const limits = { most: 10, kept: 4 }
  await boundLog(path, limits)
  writeFileSync(path, '0123456789')
  await boundLog(path, limits)
  expect(readFileSync(path, 'utf8')).toBe('0123456789')
  appendFileSync(path, 'a')
  await boundLog(path, limits)
  appendFileSync(path, 'b')
  expect(readFileSync(path, 'utf8')).toBe('789ab')
  rmSync(folder, { recursive: true })
})
