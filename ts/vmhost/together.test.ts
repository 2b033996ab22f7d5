import { expect, test } from 'bun:test'
import { together, togetherAtMost } from './together.ts'

test('a failure is told once nothing goes on any more', async () => {
  const slow = Promise.withResolvers<void>()
  const told: string[] = []
  const all = together([Promise.reject(new Error('no room')), slow.promise.then(() => told.push('slow'))]).catch(
    ({ message }: Error) => told.push(message),
  )
  await Promise.resolve()
  slow.resolve()
  await all
  expect(told).toEqual(['slow', 'no room'])
})

test('work without a failure is waited for', async () => {
  const done: number[] = []
  await together([1, 2].map(async (number) => done.push(number)))
  expect(done).toEqual([1, 2])
})

test('so many go on at a time, all of them do, and the first failure is told', async () => {
  let [going, most] = [0, 0]
  const done: number[] = []
  const work = async (number: number) => {
    most = Math.max(most, ++going)
    await Promise.resolve()
    going -= 1
    done.push(number)
    if (number % 2 === 0) throw new Error(`no room for ${number}`)
  }
  await expect(togetherAtMost(2, [1, 2, 3, 4, 5], work)).rejects.toThrow('no room for 2')
  await togetherAtMost(2, [1], work)
  expect({ most, done: done.sort() }).toEqual({ most: 2, done: [1, 1, 2, 3, 4, 5] })
})
