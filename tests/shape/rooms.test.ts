import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { files } from './sources.ts'

/** Sources that a reader takes in at a glance. */
const most = 16

/** Lists of like things, one file each. */
const lists = ['ts/driver/tools', 'ts/cli/commands', 'ts/sdk/interfaces']

test('no folder of a package or crate holds more sources than a reader takes in', () => {
  const counts = new Map<string, number>()
  const isSource = (file: string): boolean =>
    /^ts\/.*\.tsx?$/.test(file) ? !file.includes('.test.') : /^crates\/[^/]+\/src\/.*\.rs$/.test(file)
  for (const file of files.filter(isSource)) {
    counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  }
  const full = [...counts].filter(([folder, count]) => count > most && !lists.includes(folder))
  expect(full).toEqual([])
})
