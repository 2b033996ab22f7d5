import { expect, test } from 'bun:test'
import { Queue } from './queue.ts'

test('work is done one after the other, whatever becomes of the one before', async () => {
  const queue = new Queue()
  const done: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queue.run(async () => {
    await gate.promise
    done.push('first')
    throw new Error('first failed')
  })
  const second = queue.run(() => done.push('second'))
  const idle = queue.idle().then(() => done.push('idle'))
  expect(done).toEqual([])
  gate.resolve()
  await expect(first).rejects.toThrow('first failed')
  expect(await second).toBe(2)
  await idle
  expect(done).toEqual(['first', 'second', 'idle'])
})
