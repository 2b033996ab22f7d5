import { expect, test } from 'bun:test'
import { serviceAt } from '../host/service.ts'
import { runInGuest } from './ssh.ts'

test('a command whose agent is lost while it runs is not run again through ssh', async () => {
  const asked: string[] = []
  const lost = { type: 'failed', code: 'agent_unavailable', message: 'No guest agent answers.' }
  await using server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    fetch({ method, url }) {
      asked.push(`${method} ${new URL(url).pathname}`)
      return new Response(`event: failed\ndata: ${JSON.stringify(lost)}\n\n`)
    },
  })
  const call = { name: 'one', storage: undefined, command: 'true', user: undefined, timeoutSeconds: 1 }
  const failure = { code: 'agent_unavailable', message: lost.message }
  await expect(runInGuest(serviceAt(`http://127.0.0.1:${server.port}`), call)).rejects.toMatchObject(failure)
  expect(asked).toEqual(['POST /svc/vms/one/exec/stream'])
})

test('nor is one that the agent took and did not answer', async () => {
  let asked = 0
  const body = { code: 'agent_unavailable', message: 'The guest agent gave no answer.', hasBegun: true }
  await using server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    fetch() {
      asked += 1
      return Response.json(body, { status: 409 })
    },
  })
  const call = { name: 'one', storage: undefined, command: 'true', user: undefined, timeoutSeconds: 1 }
  const failure = { code: body.code, message: body.message }
  await expect(runInGuest(serviceAt(`http://127.0.0.1:${server.port}`), call)).rejects.toMatchObject(failure)
  expect(asked).toBe(1)
})
