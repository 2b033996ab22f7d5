import { expect, test } from 'bun:test'
import { partsOf } from './guest-input.ts'

const never = new AbortController().signal

test('what is there at the same time comes together, in parts of half a mebibyte at most, and nothing is read ahead', async () => {
  let read = 0
  const input = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        read += 1
        if (read > 100) controller.close()
        else controller.enqueue(new Uint8Array(65_536).fill(read))
      },
    },
    { highWaterMark: 0 },
  )
  const lengths: number[] = []
  let total = 0
  for await (const part of partsOf(input, never)) {
    lengths.push(part.length)
    total += part.length
    // One more than was given is being read.
    expect(read * 65_536 - total).toBeLessThanOrEqual(2 * 65_536)
  }
  expect([total, Math.max(...lengths)]).toEqual([100 * 65_536, 2 ** 19])
})

test('an input that nobody takes any more is cancelled, also while it is waited for', async () => {
  for (const isWaiting of [false, true]) {
    const ended = new AbortController()
    let isCancelled = false
    const input = new ReadableStream<Uint8Array>({
      pull: (controller) => (isWaiting ? new Promise<void>(() => undefined) : controller.enqueue(new Uint8Array(1))),
      cancel: () => {
        isCancelled = true
      },
    })
    const parts = partsOf(input, ended.signal)
    const first = parts.next()
    if (isWaiting) ended.abort()
    expect((await first).done).toBe(isWaiting)
    await parts.return()
    expect([isWaiting, isCancelled]).toEqual([isWaiting, true])
  }
})
