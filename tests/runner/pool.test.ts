import { expect, test } from 'bun:test'
import { longestFirst, pool } from './pool.ts'

test('so many jobs run side by side, and every one runs', async () => {
  let now = 0
  let most = 0
  const ended: number[] = []
  await pool([1, 2, 3, 4, 5], { width: 2 }, async (item) => {
    now += 1
    most = Math.max(most, now)
    await Promise.resolve()
    now -= 1
    ended.push(item)
  })
  expect(most).toBe(2)
  expect(ended.toSorted()).toEqual([1, 2, 3, 4, 5])
})

test('what uses more than is free waits, and others go first', async () => {
  const begun: number[] = []
  const ends: (() => void)[] = []
  const room = { width: 3, processors: 1, used: (item: number) => item / 10 }
  const all = pool([9, 8, 1, 20], room, (item) => {
    begun.push(item)
    return new Promise((end) => ends.push(end))
  })
  expect(begun).toEqual([9, 1])
  for (let ended = 0; ended < 4; ended += 1) {
    ends.shift()?.()
    await new Promise(setImmediate)
  }
  await all
  expect(begun).toEqual([9, 1, 8, 20])
})

test('while the machine is busy three run and no more', async () => {
  let isBusy = true
  const begun: number[] = []
  const ends: (() => void)[] = []
  const room = { width: 5, isBusy: () => isBusy, recheckMs: 1 }
  const all = pool([1, 2, 3, 4], room, (item) => {
    begun.push(item)
    return new Promise((end) => ends.push(end))
  })
  await Bun.sleep(20)
  expect(begun).toEqual([1, 2, 3])
  isBusy = false
  while (begun.length < 4) await Bun.sleep(1)
  for (const end of ends) end()
  await all
})

test('work that fails ends the pool with its error', async () => {
  expect(pool([1], { width: 1 }, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
})

test('the longest begin, and before them what nobody has timed', () => {
  const jobs = ['short', 'long', 'new', 'soak'].map((name) => ({ name, soaks: name === 'soak' }))
  const seconds = new Map(Object.entries({ short: 1, long: 60 }))
  expect(longestFirst(jobs, seconds).map(({ name }) => name)).toEqual(['soak', 'new', 'long', 'short'])
})
