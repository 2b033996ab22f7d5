import { expect, test } from 'bun:test'
import { longestFirst, pool } from './pool.ts'

test('so many jobs run side by side, and every one runs', async () => {
  let now = 0
  let most = 0
  const ended: number[] = []
  await pool([1, 2, 3, 4, 5], 2, async (item) => {
    now += 1
    most = Math.max(most, now)
    await Promise.resolve()
    now -= 1
    ended.push(item)
  })
  expect(most).toBe(2)
  expect(ended.toSorted()).toEqual([1, 2, 3, 4, 5])
})

test('the longest begin, and before them what nobody has timed', () => {
  const jobs = ['short', 'long', 'new', 'soak'].map((name) => ({ name, soaks: name === 'soak' }))
  const seconds = new Map(Object.entries({ short: 1, long: 60 }))
  expect(longestFirst(jobs, seconds).map(({ name }) => name)).toEqual(['soak', 'new', 'long', 'short'])
})
