import { expect, test } from 'bun:test'
import { Events } from '../host/events.ts'
import { hostEvents } from './events.ts'

const asked = (headers: Record<string, string> = {}) => new Request('http://localhost/svc/events', { headers })
const large = { type: 'vm', name: 'm'.repeat(1_000_000), location: 'home', status: null } as const

test('a client that does not read is let go of, and told the rest when it comes back', async () => {
  const events = new Events('run', 1_000)
  const slow = hostEvents(asked(), { events })
  for (let count = 0; count < 50; count++) events.emit(large)
  const text = await slow.text()
  expect(text.length).toBeGreaterThan(1_000_000)
  expect(text.length).toBeLessThan(12_000_000)
  const last = [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  const back = hostEvents(asked({ 'Last-Event-ID': last }), { events })
  const rest = await back.text()
  expect(rest).toContain(`id: run-${Number(last.split('-')[1]) + 1}\n`)
})

test('who goes is sent nothing any more', async () => {
  const events = new Events('run', 10)
  await hostEvents(asked(), { events }).body?.cancel()
  events.emit(large)
  expect(events.count).toBe(1)
})
