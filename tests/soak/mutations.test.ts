import { expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { mutatedCalls, seedOf } from '../support/mutations.ts'

const on = privateDesktop()

test('10,000 wrong argument objects are answered by results or typed failures', async () => {
  expect(await mutatedCalls(on(), 10_000, seedOf(process.env))).toEqual([])
}, 2_400_000)
