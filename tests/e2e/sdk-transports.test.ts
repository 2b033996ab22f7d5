import { describe, expect, test } from 'bun:test'
import type * as Sdk from '@backlot/sdk'
import { proving } from '../support/proves.ts'
import { drive, runtimes } from '../support/sdk/driven.ts'

/** A server named fake: it notes what it is asked and answers each command with what it was told of it. */
const fakeServer = () => {
  const asked: { path: string; headers: Record<string, string>; message: Record<string, unknown> }[] = []
  const spoken: unknown[] = []
  const answers: Record<string, unknown> = {}
  /** What paths other than those of commands answer; null is a 404. */
  const pages: Record<string, unknown> = {}
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request, self) {
      const path = new URL(request.url).pathname
      if (path === '/ws' && self.upgrade(request)) return undefined
      const message = (await request.json().catch(() => ({}))) as Record<string, unknown>
      asked.push({ path, headers: request.headers.toJSON() as Record<string, string>, message })
      const answer = answers[String(message.command)]
      if (answer === 'silence') return new Promise<Response>(() => {})
      if (path in pages) return Response.json(pages[path], { status: pages[path] === null ? 404 : 200 })
      const frames = Array.isArray(answer) ? answer : [answer ?? { success: true }]
      return new Response(frames.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''))
    },
    websocket: {
      message(socket, text) {
        const message = JSON.parse(String(text)) as { command: string }
        spoken.push(message)
        const answer = answers[message.command] ?? { success: true }
        if (answer !== 'silence') socket.send(JSON.stringify(answer))
      },
    },
  })
  return { url: server.url.origin, asked, spoken, answers, pages, [Symbol.asyncDispose]: () => server.stop(true) }
}

describe.each(runtimes)('%s', (runtime) => {
  test(
    'HTTP posts to /cmd with the key and the name of the container, and takes its own limit',
    proving(['sandbox.transport.http', 'sandbox.auth.transports', 'sandbox.server.transports'], async () => {
      await using fake = fakeServer()
      await using program = await drive(runtime, { kind: 'http', url: fake.url })
      await program.run((_, url, { HTTPTransport }) => {
        const transport = new HTTPTransport(`${url}/`, { apiKey: 'key', containerName: 'box' })
        return transport.send('launch', { app: 'a' })
      }, fake.url)
      expect(fake.asked).toMatchObject([
        {
          path: '/cmd',
          headers: { 'x-api-key': 'key', 'x-container-name': 'box', 'content-type': 'application/json' },
          message: { command: 'launch', params: { app: 'a' } },
        },
      ])
      fake.answers.version = 'silence'
      const met = await program.fails(
        (_, url, { HTTPTransport }) => new HTTPTransport(url, { timeoutMs: 150 }).send('version'),
        fake.url,
      )
      expect(met).toMatchObject({ code: 'timeout', data: { timeoutMs: 150 } })
      const wrong = await program.fails((_, __, { HTTPTransport }) => new HTTPTransport('ftp://h'))
      expect(wrong.code).toBe('invalid_argument')
    }),
  )

  test('connecting by HTTP asks once, and a server without a list of commands for its status', async () => {
    await using fake = fakeServer()
    await using program = await drive(runtime, { kind: 'http', url: fake.url })
    const connect = (_: unknown, url: string, { HTTPTransport }: typeof Sdk) => new HTTPTransport(url).connect()
    const asked = () => fake.asked.splice(0).map(({ path }) => path)
    asked()
    fake.pages['/commands'] = { commands: {} }
    await program.run(connect, fake.url)
    expect(asked()).toEqual(['/commands'])
    fake.pages['/commands'] = null
    fake.pages['/status'] = { status: 'ok' }
    await program.run(connect, fake.url)
    expect(asked()).toEqual(['/commands', '/status'])
    fake.pages['/commands'] = { of: 'another service' }
    fake.pages['/status'] = { status: 'fine' }
    expect(await program.fails(connect, fake.url)).toMatchObject({ code: 'server_incompatible' })
  })

  test(
    'limits are 30 seconds unless others are given',
    proving(
      ['sandbox.limits.http-timeout', 'sandbox.limits.shell-timeout', 'sandbox.limits.jpeg-quality'],
      async () => {
        await using fake = fakeServer()
        await using program = await drive(runtime, { kind: 'http', url: fake.url })
        fake.answers.version = 'silence'
        fake.answers.run_command = [{ pid: 1 }, { success: true, stdout: '', stderr: '', return_code: 0 }]
        fake.answers.screenshot = { success: true, image_data: '' }
        const met = await program.fails(({ transport }) => {
          // A timer of that length is over at once.
          const real = globalThis.setTimeout
          globalThis.setTimeout = ((work: () => void, ms: number) => real(work, ms === 30_000 ? 1 : ms)) as never
          return transport.send('version').finally(() => {
            globalThis.setTimeout = real
          })
        })
        expect(met).toMatchObject({ code: 'timeout', data: { timeoutMs: 30_000 } })
        await program.run(async (computer) => {
          await computer.shell.run('true')
          await computer.shell.run('true', { timeoutMs: 1_500 })
          await computer.shell.start('true')
          await computer.screenshot({ format: 'jpeg' })
          await computer.screenshot({ format: 'png', quality: 3 } as object)
        }, undefined)
        const sent = fake.asked.filter(({ message }) => message.command !== 'version')
        expect(sent.map(({ message }) => message.params)).toEqual([
          { command: 'true', timeout: 30 },
          { command: 'true', timeout: 1.5 },
          { command: 'true' },
          { format: 'jpeg', quality: 95 },
          { format: 'png' },
        ])
      },
    ),
  )

  test(
    'one WebSocket carries many calls, whose answers are matched in order, and shows the key first',
    proving(['sandbox.transport.websocket'], async () => {
      await using fake = fakeServer()
      await using program = await drive(runtime, { kind: 'http', url: fake.url })
      fake.answers.read_text = { success: true, content: 'text' }
      fake.answers.get_screen_size = { success: true, size: { width: 1, height: 2 } }
      fake.answers.left_click = { success: false, error: 'the person has taken over', code: 'paused_by_person' }
      fake.answers.version = 'silence'
      const told = await program.run(
        async (_, url, { WebSocketTransport }) => {
          const transport = new WebSocketTransport(url, { apiKey: 'key' })
          const calls = await Promise.all(
            Array.from({ length: 200 }, (_, at) =>
              at % 3 === 0
                ? transport.send('read_text', { path: 'p' }).then(({ content }) => content)
                : at % 3 === 1
                  ? transport.getScreenSize().then(({ height }) => height)
                  : transport.send('left_click').catch((error) => error.code),
            ),
          )
          // What comes after a call that is not answered goes by another connection.
          const late = await transport.send('version', {}, { timeoutMs: 100 }).catch((error) => error.code)
          const after = await transport.getScreenSize()
          await transport.disconnect()
          return { calls, late, after }
        },
        `${fake.url.replace('http', 'ws')}/ws`,
      )
      expect(told.calls).toEqual(Array.from({ length: 200 }, (_, at) => ['text', 2, 'paused_by_person'][at % 3]))
      expect([told.late, told.after]).toEqual(['timeout', { width: 1, height: 2 }])
      const shown = { command: 'authenticate', params: { api_key: 'key' } }
      expect(fake.spoken[0]).toEqual(shown)
      expect(fake.spoken.filter((each) => (each as { command: string }).command === 'authenticate')).toEqual([
        shown,
        shown,
      ])
    }),
  )

  test('a transport of the user’s own needs three methods, and is cancelled whether it heeds that or not', async () => {
    await using program = await drive(runtime, { kind: 'http', url: 'http://127.0.0.1:1' })
    const told = await program.run(async (_, __, { Transport }) => {
      class Own extends Transport {
        async connect() {}
        async disconnect() {}
        protected async request(action: string, params: object) {
          if (action === 'version') return new Promise<never>(() => {})
          return action === 'launch' ? { success: false, error: 'no', code: 'app_not_found' } : { action, params }
        }
      }
      const own = new Own()
      const code = (work: Promise<unknown>) => work.catch((error) => error.code ?? error.message)
      return [
        await own.send('echo', { a: 1 }),
        await code(own.send('launch', { app: 'x' })),
        await code(own.send('version', {}, { timeoutMs: 20 })),
        await code(own.send('version', {}, { signal: AbortSignal.timeout(20) }).catch((error) => error.name)),
        await code(own.forwardTunnel(80)),
        await code(own.getDisplayUrl()),
        await code(own.send('echo', {}, { timeoutMs: -1 })),
      ]
    }, undefined)
    expect(told).toEqual([
      { action: 'echo', params: { a: 1 } },
      'app_not_found',
      'timeout',
      'TimeoutError',
      'unsupported',
      'unsupported',
      'invalid_argument',
    ])
  })
})
