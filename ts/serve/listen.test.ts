import { afterEach, describe, expect, test } from 'bun:test'
import { type Endpoints, endpoint } from '@backlot/contract/endpoint'
import { Type } from '@sinclair/typebox'
import { until } from '../../tests/support/until.ts'
import { bearerKey, type Rules } from './access/guard.ts'
import { secured } from './headers.ts'
import { type BoundServer, type ListeningServer, type ListenOptions, listen, type RequestHandler } from './listen.ts'
import { addOperations, guardedApp, pathOf } from './routes.ts'

const open: AsyncDisposable[] = []

afterEach(async () => {
  for (const each of open.splice(0)) await each[Symbol.asyncDispose]()
})

/** Another server than the VM host: a route that anybody may see, keys in a header of their own, a page elsewhere. */
const rules: Rules = {
  keyIn: (headers) => headers.get('x-api-key') ?? bearerKey(headers),
  needsNoKey: (request) => pathOf(request) === '/status',
  pagePath: '/view',
  realm: 'view',
  texts: {
    crossSite: 'cross-site',
    fromGuest: 'a guest',
    unauthorized: 'API key required',
    keyRequired: 'give it a key, or --open.',
  },
}

const declared = {
  double: endpoint({
    method: 'POST',
    path: '/double/{id}',
    summary: 'Doubles.',
    description: '',
    params: Type.Object({ id: Type.String() }),
    body: Type.Object({ number: Type.Integer() }),
    success: { status: 202, description: '', result: Type.Object({ double: Type.Integer() }) },
    refusal: '',
    command: { group: 'host', words: [], positional: [] },
  }),
} satisfies Endpoints

const answersAt =
  (defects: unknown[]) =>
  ({ entry, join, newLink }: BoundServer): RequestHandler => {
    const refuse = ({ code, message }: { code: string; message: string }) => ({
      status: code === 'unauthorized' ? 401 : 400,
      body: { detail: message, code },
    })
    const app = guardedApp(entry, refuse, (defect) => defects.push(defect))
      .get('/status', () => ({ status: 'ok' }))
      .get('/view', () => 'the view')
      .get('/link', () => newLink() ?? 'none')
      .get('/defect', () => {
        throw new Error('broken')
      })
      .get('/echo', ({ request }) => {
        if (join(request, { message: (socket, text) => void socket.send(text) }, ['two'])) return new Response()
        throw new Error('no WebSocket')
      })
    addOperations(app, {
      declared,
      prefix: '/api',
      longestBodyBytes: 40,
      answer: async (name, { id, number }) => ({ double: Number(number) * 2, id, name }),
    })
    return async (request) => secured(await app.fetch(request))
  }

const start = async (options: Partial<ListenOptions> = {}, guestPids: readonly number[] = []) => {
  const lines: string[] = []
  const defects: unknown[] = []
  const ended: string[] = []
  const server = await listen(
    {
      address: '127.0.0.1',
      port: 0,
      longestMessageBytes: 1_000,
      rules,
      native: () => require('@backlot/native'),
      log: (line) => void lines.push(line),
      ...options,
    },
    async () => ({
      guestPids,
      answersAt: answersAt(defects),
      [Symbol.asyncDispose]: async () => void ended.push('service'),
    }),
  )
  open.push(server)
  return { server, lines, defects, ended }
}

const ask = async (
  { url }: ListeningServer,
  path: string,
  headers: Record<string, string> = {},
  init: RequestInit = {},
) => {
  const answer = await fetch(url.replace('0.0.0.0', '127.0.0.1') + path, { headers, ...init })
  return [answer.status, await answer.text()] as const
}

describe('a server with a key', () => {
  test('lets in who shows it as the server wants it, and anybody to what needs none', async () => {
    const { server } = await start({ key: 'sesame' })
    expect(await ask(server, '/status')).toEqual([200, '{"status":"ok"}'])
    expect(await ask(server, '/view')).toEqual([401, '{"detail":"API key required","code":"unauthorized"}'])
    for (const headers of [{ 'X-API-Key': 'sesame' }, { Authorization: 'Bearer sesame' }]) {
      expect(await ask(server, '/view', headers)).toEqual([200, 'the view'])
    }
    for (const headers of [{ 'X-API-Key': 'other' }, { Authorization: 'sesame' }]) {
      expect((await ask(server, '/view', headers))[0]).toBe(401)
    }
    expect((await ask(server, '/status', { Origin: 'http://evil' }))[0]).toBe(400)
  })

  test('opens its own page by a link, once, with a cookie that is good for this server alone', async () => {
    const { server } = await start({ key: 'sesame' })
    const link = server.newLink() ?? ''
    expect(new URL(link).pathname).toBe('/view')
    const first = await fetch(link)
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect([first.status, (await fetch(link)).status]).toEqual([200, 401])
    expect(await ask(server, '/view', { Cookie: cookie })).toEqual([200, 'the view'])
    const other = await start({ key: 'sesame', port: 0, rules: { ...rules, realm: 'other' } })
    const renamed = cookie.replace(/^backlot-\d+/, `backlot-${new URL(other.server.url).port}`)
    expect((await ask(other.server, '/view', { Cookie: renamed }))[0]).toBe(401)
  })
})

describe('a server without a key', () => {
  test('is reached by other machines only where it is meant to be open', async () => {
    await expect(start({ address: '0.0.0.0' })).rejects.toMatchObject({
      code: 'token_required',
      message: '"0.0.0.0" can be reached from other machines: give it a key, or --open.',
    })
    const { server } = await start({ address: '0.0.0.0', isOpen: true })
    expect(server.newLink()).toBeUndefined()
    expect(await ask(server, '/view')).toEqual([200, 'the view'])
    expect((await ask(server, '/view', { Host: 'rebound.example.com' }))[0]).toBe(400)
  })

  test('refuses guests, and one with a key does so where it asks for none', async () => {
    // This process is the one that calls.
    const { server } = await start({}, [process.pid])
    expect(await ask(server, '/status')).toEqual([400, '{"detail":"a guest","code":"from_guest"}'])
    const withKey = await start({ key: 'sesame' }, [process.pid])
    expect((await ask(withKey.server, '/status'))[0]).toBe(400)
    expect((await ask(withKey.server, '/status', { 'X-API-Key': 'sesame' }))[0]).toBe(200)
    await using other = Bun.spawn(['sleep', '60'])
    const { server: third } = await start({}, [other.pid])
    expect((await ask(third, '/status'))[0]).toBe(200)
  })
})

/** Calls, breaks the connection off or closes it, and only then lets the server read. */
const leaveEarly = [
  'import socket, struct, sys',
  "caller = socket.create_connection(('127.0.0.1', int(sys.argv[1])))",
  "caller.sendall(b'GET /status HTTP/1.1\\r\\nHost: localhost:' + sys.argv[1].encode() + b'\\r\\n\\r\\n')",
  "if sys.argv[2] == 'reset': caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))",
  'caller.close()',
].join('\n')

test.each(['reset', 'closed'])('a caller whose connection was %s before may have been a guest', async (how) => {
  const { server, lines } = await start()
  expect(Bun.spawnSync(['python3', '-c', leaveEarly, new URL(server.url).port, how]).exitCode).toBe(0)
  await until('the request', async () => lines.length > 0)
  expect(lines).toEqual([expect.stringMatching(/^GET \/status 400 /)])
})

test('operations are answered as they are declared, and what is wrong with a call is refused before', async () => {
  const { server, defects } = await start()
  const post = (path: string, body: string) => ask(server, path, {}, { method: 'POST', body })
  expect(await post('/api/double/a%20b', '{"number":21}')).toEqual([202, '{"double":42,"id":"a b","name":"double"}'])
  for (const body of ['', '[]', '{"number":"21"}', `{"number":21${' '.repeat(40)}}`]) {
    const [status, text] = await post('/api/double/a', body)
    expect([body, status, text]).toEqual([body, 400, expect.stringContaining('invalid_body')])
  }
  expect((await ask(server, '/nothing'))[1]).toContain('unknown_operation')
  expect(defects).toEqual([])
  expect((await ask(server, '/defect'))[1]).toContain('internal')
  expect(defects).toEqual([expect.objectContaining({ message: 'broken' })])
})

test('a WebSocket has a handler of its own, a protocol of those that the client names, and a longest message', async () => {
  const { server } = await start()
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/echo`, ['one', 'two'])
  const heard = new Promise((settle) => {
    socket.onmessage = ({ data }) => settle(data)
  })
  const closed = new Promise((settle) => {
    socket.onclose = settle
  })
  await new Promise((settle) => {
    socket.onopen = settle
  })
  expect(socket.protocol).toBe('two')
  socket.send('hello')
  expect(await heard).toBe('hello')
  socket.send('x'.repeat(1_001))
  await closed
  expect((await ask(server, '/echo'))[1]).toContain('internal')
})

test('what a server serves is disposed of when it ends, and when it cannot begin', async () => {
  const { server, ended, lines } = await start()
  await ask(server, '/status?key=secret')
  expect(lines).toEqual([expect.stringMatching(/^GET \/status 200 \d+ ms$/)])
  await server[Symbol.asyncDispose]()
  expect(ended).toEqual(['service'])
  const disposed: string[] = []
  const port = Number(new URL((await start()).server.url).port)
  const native = () => require('@backlot/native')
  await expect(
    listen({ address: '127.0.0.1', port, longestMessageBytes: 1, rules, native, log() {} }, async () => ({
      guestPids: [],
      answersAt: answersAt([]),
      [Symbol.asyncDispose]: async () => void disposed.push('service'),
    })),
  ).rejects.toMatchObject({ code: 'cannot_listen' })
  expect(disposed).toEqual(['service'])
})
