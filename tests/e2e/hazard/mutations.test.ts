import { expect, test } from 'bun:test'
import { privateDesktop } from '../../support/desktop.ts'
import { mutatedCalls, seedOf } from '../../support/mutations.ts'

const on = privateDesktop()

test('200 wrong argument objects are answered by results or typed failures', async () => {
  expect(await mutatedCalls(on(), 200, seedOf(process.env))).toEqual([])
}, 300_000)
