import { expect, test } from 'bun:test'
import { Failure } from '@backlot/contract/failure'
import type { WebSocketOfServer } from '@backlot/serve'
import { commandSocket } from './socket.ts'

test('every message is answered where there is no computer', async () => {
  const gone = new Failure('not_available', 'The desktop has ended. Start the server again.')
  const handler = commandSocket(() => Promise.reject(gone), { isAdmitted: true, isKey: () => true })
  const answers: unknown[] = []
  const all = Promise.withResolvers<void>()
  const socket = {
    send(text: string) {
      answers.push(JSON.parse(text))
      if (answers.length === 2) all.resolve()
      return text.length
    },
    close() {},
  } as unknown as WebSocketOfServer
  for (const command of ['version', 'get_screen_size']) await handler.message?.(socket, JSON.stringify({ command }))
  await all.promise
  const { message: error, code } = gone
  expect(answers).toEqual([
    { success: false, error, code },
    { success: false, error, code },
  ])
})
