import { expect, test } from 'bun:test'
import { linesOf } from './lines.ts'

test('lines come whole, wherever the stream is cut', async () => {
  const bytes = new TextEncoder().encode('one\nzwei ü\n\nunfinished')
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  expect(await Array.fromAsync(linesOf(stream))).toEqual(['one', 'zwei ü', ''])
})
