import { expect, test } from 'bun:test'
import { settleAll } from './settle-all.ts'

test('a failure is told once nothing goes on any more', async () => {
  const slow = Promise.withResolvers<void>()
  const told: string[] = []
  const all = settleAll([Promise.reject(new Error('no room')), slow.promise.then(() => told.push('slow'))]).catch(
    ({ message }: Error) => told.push(message),
  )
  await Promise.resolve()
  slow.resolve()
  await all
  expect(told).toEqual(['slow', 'no room'])
})

test('work without a failure is waited for', async () => {
  const done: number[] = []
  await settleAll([1, 2].map(async (number) => done.push(number)))
  expect(done).toEqual([1, 2])
})
