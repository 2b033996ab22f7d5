import { expect, test } from 'bun:test'
import { eventsOf, type ServerEvent } from './events.ts'

const stream = ': alive\n\nevent: output\nid: 7\ndata: {"text":"ä"}\ndata: more\n\n\ndata: last\n\ndata: has not ended'

const events: readonly ServerEvent[] = [
  { type: 'output', id: '7', data: '{"text":"ä"}\nmore' },
  { type: 'message', id: '', data: 'last' },
]

const readInPieces = (length: number): Promise<ServerEvent[]> => {
  const bytes = new TextEncoder().encode(stream)
  const body = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += length) controller.enqueue(bytes.subarray(at, at + length))
      controller.close()
    },
  })
  return Array.fromAsync(eventsOf(new Response(body), 'a test', new AbortController().signal))
}

test('events are the same in whatever pieces they come', async () => {
  for (const length of [1, 2, 3, 5, 8, 13, stream.length * 2]) expect(await readInPieces(length)).toEqual([...events])
})
