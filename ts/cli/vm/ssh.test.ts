import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { serviceAt } from '../host/service.ts'
import { withOwnKey } from './ssh.ts'

test('a login that is ended by a signal takes its key back, and removes it here', async () => {
  const commands: string[] = []
  await using server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    async fetch(request) {
      commands.push(((await request.json()) as { command: string }).command)
      return Response.json({ stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false, exitCode: 0 })
    },
  })
  const service = serviceAt(`http://127.0.0.1:${server.port}`)
  let file = ''
  const login = withOwnKey(service, { name: 'one' }, 'root', async ({ keyFile, signal }) => {
    file = keyFile
    expect(existsSync(file)).toBe(true)
    process.emit('SIGTERM')
    return signal.aborted
  })
  expect(await login).toBe(true)
  const [, mark = 'none'] = /(backlot-[\w-]+)'/.exec(commands[0] ?? '') ?? []
  expect(commands).toEqual([expect.stringContaining('authorized_keys'), expect.stringContaining(`/ ${mark}$/d`)])
  expect([existsSync(file), process.listenerCount('SIGTERM')]).toEqual([false, 0])
})
