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
