import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRegularFile } from './regular-file.ts'

test('only a regular file of that length is read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'regular-'))
  const at = (name: string): string => join(folder, name)
  try {
    writeFileSync(at('file'), 'text')
    symlinkSync(at('file'), at('link'))
    expect(Bun.spawnSync(['mkfifo', at('pipe')]).exitCode).toBe(0)
    expect(readRegularFile(at('file'), 4)).toBe('text')
    expect(() => readRegularFile(at('file'), 3)).toThrow('has 4 bytes, more than 3')
    expect(() => readRegularFile(at('pipe'), 4)).toThrow('is no regular file')
    expect(() => readRegularFile(folder, 10_000)).toThrow('is no regular file')
    expect(() => readRegularFile(at('link'), 4)).toThrow('ELOOP')
    expect(() => readRegularFile(at('none'), 4)).toThrow('ENOENT')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
