import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../support/scratch.ts'
import { keepResults, readNumbers, readResults, writeNumbers } from './kept.ts'

const result = { hash: 'abc', counts: { passed: 2, failed: 0, skipped: 0 }, proofs: ['a.one'], seconds: 1 }

test('a result is kept beside those of other jobs, and replaces an earlier one', () => {
  const file = join(scratchFolder('kept'), 'results.json')
  keepResults(file, { one: result, two: result })
  keepResults(file, { two: { ...result, hash: 'def' } })
  expect(readResults(file)).toEqual({ one: result, two: { ...result, hash: 'def' } })
})

test('where nothing was kept, or what was kept is damaged, nothing is known', () => {
  const file = join(scratchFolder('kept'), 'results.json')
  expect(readResults(file)).toEqual({})
  writeFileSync(file, '{"one": {"ha')
  expect(readResults(file)).toEqual({})
})

test('numbers are lines by name, under a comment', () => {
  const file = join(scratchFolder('kept'), 'times.txt')
  expect(readNumbers(file)).toEqual(new Map())
  const numbers = new Map([
    ['tests/e2e/b.test.ts: types, twice', 2],
    ['crate ax, tests', 30],
  ])
  writeNumbers(file, 'Seconds.', numbers)
  expect(readNumbers(file)).toEqual(numbers)
})
