import { expect, test } from 'bun:test'
import { partOf } from './given-x-server.ts'
import { startTicksOf } from './owner.ts'

const given = { number: '1000', authority: '/nowhere', vncSocket: undefined, pid: process.pid }

test('an X server lives as long as its process, and not as another with its pid', async () => {
  const ending = new AbortController()
  const living = partOf({ ...given, startTicks: startTicksOf(process.pid) }, ending.signal)
  const followed = partOf({ ...given, startTicks: (startTicksOf(process.pid) ?? 0) + 1 }, ending.signal)
  expect([living.isAlive(), followed.isAlive()]).toEqual([true, false])
  expect((await followed.failed).code).toBe('desktop_not_started')
  ending.abort()
  await living.exited
})
