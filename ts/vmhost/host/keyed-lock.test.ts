import { expect, test } from 'bun:test'
import { KeyedLock } from './keyed-lock.ts'

const gate = () => Promise.withResolvers<void>()

test('turns of one key follow each other, those of others do not wait', async () => {
  const turns = new KeyedLock()
  const seen: string[] = []
  const open = gate()
  const first = turns.take('a', async () => {
    await open.promise
    seen.push('first')
  })
  const second = turns.take('a', async () => void seen.push('second'))
  await turns.take('b', async () => void seen.push('other'))
  open.resolve()
  await Promise.all([first, second])
  expect(seen).toEqual(['other', 'first', 'second'])
})

test('a turn that fails ends like any other, and its failure reaches its caller alone', async () => {
  const turns = new KeyedLock()
  const failing = turns.take('a', async () => {
    throw new Error('no')
  })
  const next = turns.take('a', async () => 'yes')
  await expect(failing).rejects.toThrow('no')
  expect(await next).toBe('yes')
})

test('who waits too long is refused, never does its work, and is not waited for twice', async () => {
  const turns = new KeyedLock()
  const open = gate()
  const seen: string[] = []
  const first = turns.take('a', () => open.promise)
  const refused = turns.take('a', async () => void seen.push('refused'), {
    patienceMs: 10,
    tooLong: () => new Error('busy'),
  })
  const last = turns.take('a', async () => void seen.push('last'))
  await expect(refused).rejects.toThrow('busy')
  expect(seen).toEqual([])
  open.resolve()
  await Promise.all([first, last])
  expect(seen).toEqual(['last'])
})

test('who is cancelled while it waits does nothing, and whoever is behind it goes on waiting', async () => {
  const turns = new KeyedLock()
  const open = gate()
  const seen: string[] = []
  const first = turns.take('a', () => open.promise)
  const stop = new AbortController()
  const cancelled = turns.take('a', async () => void seen.push('cancelled'), { signal: stop.signal })
  const last = turns.take('a', async () => void seen.push('last'))
  stop.abort(new Error('enough'))
  await expect(cancelled).rejects.toThrow('enough')
  expect(seen).toEqual([])
  open.resolve()
  await Promise.all([first, last])
  expect(seen).toEqual(['last'])
})
