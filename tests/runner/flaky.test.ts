import { expect, test } from 'bun:test'
import { counted, mostFlaky, worthAgain } from './flaky.ts'
import type { Job } from './job.ts'

const job: Job = {
  name: 'tests/e2e/a.test.ts',
  runner: 'bun',
  files: [],
  network: 'own',
  soaks: false,
  dangerous: false,
  minutes: 1,
}
const result = { failed: ['clicks'], left: [] }

test('a test with real parts has a second try until it is known as flaky', () => {
  expect(worthAgain(job, result, new Map())).toBe(true)
  expect(worthAgain(job, result, new Map([['tests/e2e/a.test.ts: clicks', 1]]))).toBe(false)
})

test('soak tests, unit tests and what leaves something behind have one try', () => {
  expect(worthAgain({ ...job, soaks: true }, result, new Map())).toBe(false)
  expect(worthAgain({ ...job, name: 'unit and shape tests' }, result, new Map())).toBe(false)
  expect(worthAgain(job, { ...result, left: ['process 7: sleep'] }, new Map())).toBe(false)
})

test('flaky tests are counted over runs', () => {
  expect([...counted(new Map([['a', 1]]), ['a', 'b'])]).toEqual([
    ['a', 2],
    ['b', 1],
  ])
})

test('of many jobs one in ten may fail by accident', () => {
  expect([mostFlaky(3), mostFlaky(204)]).toEqual([4, 20])
})
