import { expect, test } from 'bun:test'
import { QemuGuest } from './guest.ts'

test('what a command was to read is cancelled where its caller leaves before it begins', async () => {
  const place = { settings: { guestOs: 'linux' } }
  const guest = new QemuGuest('/nowhere', { place, startedAt: '', ended: new Promise(() => {}) } as never)
  const cancelled = Promise.withResolvers<unknown>()
  const input = new ReadableStream<Uint8Array>({ cancel: (why) => cancelled.resolve(why) })
  const gone = new Error('gone')
  await expect(guest.execute({ command: 'cat', input }, 1_000, AbortSignal.abort(gone))).rejects.toBe(gone)
  expect(await cancelled.promise).toBe(gone)
})
