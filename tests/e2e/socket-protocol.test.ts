import { afterAll, beforeAll, expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand, openSocket } from '../support/driver.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let socket: string

beforeAll(async () => {
  socket = on().path('driver.sock')
  expect((await on().backlot(['get_config', '{}', '--socket', socket])).status).toBe(0)
})

afterAll(async () => {
  await Bun.spawn(driverCommand('stop', '--socket', socket), { stderr: 'ignore' }).exited
})

test('each method answers a line', async () => {
  await using client = await openSocket(socket)
  const ask = async (request: object) => {
    client.send(request)
    return client.next()
  }
  expect(await ask({ method: 'hello' })).toMatchObject({
    ok: true,
    result: { version: '0.1.0', display: on().desktop.display },
  })
  expect(await ask({ method: 'list' })).toMatchObject({
    ok: true,
    result: expect.arrayContaining([expect.objectContaining({ name: 'click' })]),
  })
  expect(await ask({ method: 'describe', name: 'click' })).toMatchObject({ ok: true, result: { name: 'click' } })
  expect(await ask({ id: 'a', method: 'call', name: 'get_screen_size', args: {}, session_id: 's' })).toMatchObject({
    id: 'a',
    ok: true,
    result: { structuredContent: { width: 1280 } },
  })
  expect(await ask({ method: 'call', name: 'frobnicate' })).toMatchObject({
    ok: false,
    code: 'unknown_tool',
    exit_code: 64,
    error: expect.stringContaining('frobnicate'),
  })
  expect(await ask({ method: 'call' })).toMatchObject({ ok: false, code: 'missing_argument', exit_code: 1 })
  expect(await ask({ method: 'dance' })).toMatchObject({ ok: false, code: 'unknown_method', exit_code: 64 })
})

test('garbage is answered and the connection stays', async () => {
  await using client = await openSocket(socket)
  for (const garbage of ['garbage\n', '[]\n', '7\n', new Uint8Array([0xff, 0xfe, 10])]) {
    client.write(garbage)
    expect(await client.next()).toMatchObject({ ok: false, code: 'invalid_json', exit_code: 2 })
  }
  client.write(`${'x'.repeat(17 * 1024 * 1024)}\n`)
  expect(await client.next()).toMatchObject({ ok: false, code: 'message_too_long' })
  client.write('\n{"met')
  client.write('hod":"status"}\n')
  expect(await client.next()).toMatchObject({ ok: true, result: { running: true } })
})

test('requests with an id run at once, requests without one are answered in order', async () => {
  await using client = await openSocket(socket)
  const slow = { method: 'call', name: 'launch_app', args: { name: 'sleep', additional_arguments: ['60'] } }
  client.send({ id: 1, ...slow })
  client.send({ id: 2, method: 'status' })
  expect(await client.next()).toMatchObject({ id: 2 })
  client.send({ method: 'cancel', cancel: 1 })
  expect(await client.next()).toMatchObject({ id: 1, ok: false, code: 'cancelled' })
  for (let n = 0; n < 200; n++) client.send({ method: 'describe', name: n % 2 === 0 ? 'click' : 'get_config' })
  for (let n = 0; n < 200; n++) {
    expect(await client.next()).toMatchObject({ result: { name: n % 2 === 0 ? 'click' : 'get_config' } })
  }
})

test('a client that stops sending still gets its answers', async () => {
  await using client = await openSocket(socket)
  client.write('{"method":"call","name":"get_screen_size"}\n{"method":"status"}')
  client.end()
  expect(await client.next()).toMatchObject({ ok: true, result: { structuredContent: { height: 800 } } })
  expect(await client.next()).toMatchObject({ ok: true, result: { running: true } })
  await client.closed
})

test('a client that hangs up in the middle of a call ends the call', async () => {
  await using watcher = await openSocket(socket)
  const connections = async () => {
    watcher.send({ method: 'status' })
    return ((await watcher.next()).result as { connections: number }).connections
  }
  const client = await openSocket(socket)
  client.send({ method: 'call', name: 'launch_app', args: { name: 'sleep', additional_arguments: ['60'] } })
  await until('both to be connected', async () => (await connections()) === 2)
  client.terminate()
  await until('the connection to be gone', async () => (await connections()) === 1)
})

test('a client that asks much and reads nothing does not fill the daemon', async () => {
  const pid = JSON.parse((await on().run(driverCommand('status', '--socket', socket))).stdout).pid as number
  const residentMb = async () => {
    const status = await Bun.file(`/proc/${pid}/status`).text()
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
  }
  const before = await residentMb()
  const client = Bun.spawn(
    [
      '/usr/bin/python3',
      '-c',
      `import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.settimeout(1)
line = b'{"id":1,"method":"list"}\\n' * 1000
sent = 0
try:
    while sent < 20000: s.sendall(line); sent += 1000
except TimeoutError: pass
print(sent, flush=True)
sys.stdin.read()`,
      socket,
    ],
    { stdin: 'pipe', stdout: 'pipe' },
  )
  let said = ''
  for await (const bytes of client.stdout) {
    said += Buffer.from(bytes).toString()
    if (said.endsWith('\n')) break
  }
  expect(Number(said)).toBeGreaterThan(0)
  expect((await residentMb()) - before).toBeLessThan(100)
  await using other = await openSocket(socket)
  other.send({ method: 'status' })
  expect(await other.next()).toMatchObject({ ok: true })
  client.kill('SIGKILL')
  await client.exited
  await until('the connection to be gone', async () => {
    other.send({ method: 'status' })
    return ((await other.next()).result as { connections: number }).connections === 1
  })
})
