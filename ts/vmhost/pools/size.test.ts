import { expect, test } from 'bun:test'
import { poolSize } from './size.ts'

const about = { wanted: 4, present: 0, totalBytes: 800, availableBytes: 800, eachBytes: 50 }

test('a pool is as large as it is wanted where there is room', () => {
  expect(poolSize(about)).toBe(4)
  expect(poolSize({ ...about, present: 6 })).toBe(4)
  expect(poolSize({ ...about, wanted: 0, present: 2 })).toBe(0)
})

test('it grows by what there is room for beside twice the reserve', () => {
  expect(poolSize({ ...about, availableBytes: 310 })).toBe(2)
  expect(poolSize({ ...about, present: 1, availableBytes: 249 })).toBe(1)
})

test('it loses one after the other where memory is short', () => {
  expect(poolSize({ ...about, present: 3, availableBytes: 99 })).toBe(2)
  expect(poolSize({ ...about, present: 0, availableBytes: 99 })).toBe(0)
})
