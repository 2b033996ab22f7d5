import { expect, setDefaultTimeout, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { mutatedCalls, seedOf } from '../support/mutations.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(2_400_000))

const on = privateDesktop()
const calls = rounds(10_000)

test(`${calls} wrong argument objects are answered by results or typed failures`, async () => {
  expect(await mutatedCalls(on(), calls, seedOf(process.env))).toEqual([])
})
