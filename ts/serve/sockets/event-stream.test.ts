import { expect, test } from 'bun:test'
import { type EventSink, eventStream } from './event-stream.ts'

const request = new Request('http://localhost/', { headers: { 'Last-Event-ID': '7' } })

test('a stream has the events of who follows, with what they have of id and type, until there are no more', async () => {
  let asked: string | undefined
  let unfollowed = 0
  const stream = eventStream(request, (last, sink) => {
    asked = last
    sink.send({ id: '8', type: 'vm', data: { name: 'one' } })
    sink.send({ data: 'two\nlines' })
    sink.end()
    sink.send({ data: 'late' })
    return () => {
      unfollowed += 1
    }
  })
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  expect(await stream.text()).toBe(': welcome\n\nid: 8\nevent: vm\ndata: {"name":"one"}\n\ndata: "two\\nlines"\n\n')
  expect([asked, unfollowed]).toEqual(['7', 1])
})

test('who ends a stream later ends it once', async () => {
  let sink: EventSink | undefined
  let unfollowed = 0
  const stream = eventStream(request, (_, given) => {
    sink = given
    return () => {
      unfollowed += 1
    }
  })
  sink?.send({ data: 1 })
  sink?.end()
  sink?.end()
  expect(await stream.text()).toBe(': welcome\n\ndata: 1\n\n')
  expect(unfollowed).toBe(1)
})
