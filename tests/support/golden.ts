/** Texts that are kept as they are in `tests/golden`: what changes one of them changes the file, and is looked at there. */
import { expect } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const folder = join(import.meta.dir, '../golden')

/** Compares a text with the kept one of that name, line by line; `KEEP_GOLDEN=1` keeps it instead. */
export const expectGolden = (name: string, text: string): void => {
  const path = join(folder, name)
  if (process.env.KEEP_GOLDEN === '1') {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : ''
  expect(text.split('\n')).toEqual(kept.split('\n'))
}
