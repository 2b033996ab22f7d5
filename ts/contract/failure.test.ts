import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { failures } from './failure.ts'

test('each code of a surface stands in one file, and in the list', async () => {
  const folder = join(import.meta.dir, 'failures')
  const modules = await Promise.all(readdirSync(folder).map((file) => import(join(folder, file))))
  const rows = modules.flatMap((module) => Object.values<object>(module).filter((value) => typeof value === 'object'))
  const codes = [...rows.flatMap((row) => Object.keys(row)), 'internal']
  expect(codes.sort()).toEqual(Object.keys(failures).sort())
})
