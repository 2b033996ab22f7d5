import { afterAll, expect, test } from 'bun:test'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import type { FailureCode } from '@backlot/contract/failure'
import { createDisk, QmpClient } from '@backlot/native'
import { bareHypervisor, Scratch } from '../support/qemu.ts'
import { until } from '../support/until.ts'

const scratch = new Scratch()
afterAll(() => scratch[Symbol.dispose]())

const limitMs = 20_000

/** Expects that a promise is rejected with this code, and answers the text. */
const refuses = async (code: FailureCode, promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => ({ code: 'fulfilled', message: '' }),
    (error: { code: string; message: string }) => error,
  )
  expect({ code: error.code, message: error.message }).toMatchObject({ code })
  return error.message
}

/** Has a command done and answers its result. */
const execute = async (client: QmpClient, command: string, args?: object, fds?: number[]): Promise<unknown> =>
  JSON.parse(await client.execute(command, args && JSON.stringify(args), limitMs, fds))

/** Somebody on a socket who says some lines to each who connects, and others when the first command has come. */
const fake = async (name: string, first: readonly string[], later: readonly string[] = []) => {
  const socket = scratch.at(name)
  const peers = new Set<Socket>()
  const server = createServer((peer) => {
    peers.add(peer)
    peer.on('error', () => {})
    for (const line of first) peer.write(line)
    peer.once('data', () => {
      for (const line of later) peer.write(line)
    })
  })
  await new Promise<void>((listening) => server.listen(socket, listening))
  return {
    socket,
    [Symbol.dispose]: () => {
      for (const peer of peers) peer.destroy()
      server.close()
    },
  }
}

const greeting = '{"QMP": {"version": {"qemu": {"major": 7, "minor": 2, "micro": 0}}, "capabilities": []}}\r\n'
const agreed = '{"return": {}, "id": 1}\r\n'

test('commands are answered, each with its own result, and events come', async () => {
  await using hypervisor = await bareHypervisor(scratch)
  const events: { name: string; at_ms: number }[] = []
  const client = await QmpClient.connect(hypervisor.socket, limitMs, (text) => events.push(JSON.parse(text)))
  expect(JSON.parse(client.greeting()).version.qemu.major).toBeGreaterThan(5)
  const names = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      execute(client, at % 2 === 0 ? 'query-status' : 'query-name').then((result) => Object.keys(result as object)),
    ),
  )
  for (const [at, keys] of names.entries()) expect(keys.includes('status')).toBe(at % 2 === 0)
  await execute(client, 'cont')
  await execute(client, 'stop')
  await until('the events', () => events.length >= 2)
  expect(events.map(({ name }) => name)).toEqual(['RESUME', 'STOP'])
  expect(Math.abs((events[0]?.at_ms ?? 0) - Date.now())).toBeLessThan(60_000)
  client.close()
  client.close()
})

test('a refusal carries the class and the words of the hypervisor', async () => {
  await using hypervisor = await bareHypervisor(scratch)
  const client = await QmpClient.connect(hypervisor.socket, limitMs)
  const text = await refuses('hypervisor_refused', execute(client, 'no-such-command'))
  expect(text).toContain('CommandNotFound')
  expect(text).toContain('"no-such-command"')
  await refuses('invalid_argument', client.execute('query-name', '[]', limitMs))
  await refuses('invalid_argument', client.execute('query-name', '{', limitMs))
  await refuses('invalid_argument', client.execute('getfd', '{"fdname": "x"}', limitMs, [9999]))
  client.close()
})

test('a file that is handed over is the one that the hypervisor opens', async () => {
  await using hypervisor = await bareHypervisor(scratch)
  const client = await QmpClient.connect(hypervisor.socket, limitMs)
  const path = scratch.at('handed')
  writeFileSync(path, Buffer.alloc(4096))
  const fd = openSync(path, 'r')
  const added = execute(client, 'add-fd', { 'fdset-id': 3 }, [fd])
  closeSync(fd)
  expect(await added).toMatchObject({ 'fdset-id': 3 })
  const node = {
    driver: 'raw',
    'node-name': 'handed',
    'read-only': true,
    file: { driver: 'file', filename: '/dev/fdset/3' },
  }
  await execute(client, 'blockdev-add', node)
  const nodes = (await execute(client, 'query-named-block-nodes')) as { image: { 'virtual-size': number } }[]
  expect(nodes.some(({ image }) => image['virtual-size'] === 4096)).toBe(true)
  await refuses('hypervisor_refused', execute(client, 'getfd', { fdname: 'none' }))
  client.close()
})

test('a job is waited for to its end, with its progress, and its failure is told', async () => {
  await using hypervisor = await bareHypervisor(scratch)
  const client = await QmpClient.connect(hypervisor.socket, limitMs)
  const path = scratch.at('made.qcow2')
  await createDisk(scratch.at('source.qcow2'), 64 << 20)
  writeFileSync(path, '')
  const file = { driver: 'file', filename: path, 'node-name': 'file' }
  await execute(client, 'blockdev-add', file)
  const options = { driver: 'qcow2', file: 'file', size: 8 << 20 }
  await execute(client, 'blockdev-create', { 'job-id': 'make', options })
  const told: number[] = []
  expect(await client.finishJob('make', limitMs, (current) => told.push(current))).toBe('concluded')
  await until('the progress', () => told.length > 0)
  expect(await execute(client, 'query-jobs')).toEqual([])
  await refuses('job_not_found', client.finishJob('make', limitMs))
  await execute(client, 'blockdev-create', { 'job-id': 'wrong', options: { ...options, size: 513, 'cluster-size': 3 } })
  expect(await refuses('job_failed', client.finishJob('wrong', limitMs))).toContain('"wrong"')
  expect(await execute(client, 'query-jobs')).toEqual([])
  client.close()
})

test('a hypervisor that hangs is given up in time, and its late answer is thrown away', async () => {
  await using hypervisor = await bareHypervisor(scratch)
  const client = await QmpClient.connect(hypervisor.socket, limitMs)
  process.kill(hypervisor.pid, 'SIGSTOP')
  await refuses('hypervisor_timeout', client.execute('query-name', null, 300))
  await refuses('hypervisor_timeout', client.finishJob('any', 300))
  process.kill(hypervisor.pid, 'SIGCONT')
  expect(await execute(client, 'query-status')).toMatchObject({ running: false })
  client.close()
})

test('a hypervisor that takes nothing is given up in the middle of a command, and for good', async () => {
  await using hypervisor = await bareHypervisor(scratch)
  const ends: string[] = []
  const client = await QmpClient.connect(hypervisor.socket, limitMs, null, (code) => ends.push(code))
  process.kill(hypervisor.pid, 'SIGSTOP')
  // More than a socket holds.
  const long = JSON.stringify({ 'command-line': 'x'.repeat(4 << 20) })
  const sending = client.execute('human-monitor-command', long, 500)
  // It waits for its turn and no longer than it may.
  await refuses('hypervisor_timeout', client.execute('query-name', null, 100))
  expect(await refuses('hypervisor_lost', sending)).toContain('took no command in time')
  await refuses('hypervisor_lost', client.execute('query-name', null, limitMs))
  await until('the end', () => ends.length > 0)
  client.close()
  process.kill(hypervisor.pid, 'SIGCONT')
  // Half a command is no harm to the hypervisor, which takes the next client.
  const next = await QmpClient.connect(hypervisor.socket, limitMs)
  expect(await execute(next, 'query-status')).toMatchObject({ running: false })
  next.close()
})

test('the death of a hypervisor ends what waits, and is told once', async () => {
  await using hypervisor = await bareHypervisor(scratch)
  const ends: string[] = []
  const client = await QmpClient.connect(hypervisor.socket, limitMs, null, (code) => ends.push(code))
  process.kill(hypervisor.pid, 'SIGSTOP')
  const waiting = client.execute('query-name', null, limitMs)
  process.kill(hypervisor.pid, 'SIGKILL')
  await refuses('hypervisor_lost', waiting)
  await refuses('hypervisor_lost', client.execute('query-name', null, limitMs))
  await until('the end', () => ends.length > 0)
  client.close()
  expect(ends).toEqual(['hypervisor_lost'])
})

test('nobody, and somebody who says nothing, are told apart', async () => {
  await refuses('hypervisor_unreachable', QmpClient.connect(scratch.at('nobody'), limitMs))
  await refuses('hypervisor_unreachable', QmpClient.connect(scratch.at('x'.repeat(200)), limitMs))
  using silent = await fake('silent', [])
  await refuses('hypervisor_timeout', QmpClient.connect(silent.socket, 200))
  using deaf = await fake('deaf', [greeting])
  await refuses('hypervisor_timeout', QmpClient.connect(deaf.socket, 200))
})

test('what is not the protocol ends the connection', async () => {
  const wrong = [
    'HTTP/1.1 400 Bad Request\r\n\r\n',
    '[]\n',
    '{"event": "EARLY"}\n',
    `${'['.repeat(100_000)}\n`,
    '\xff\xfe\n',
  ]
  for (const [at, line] of wrong.entries()) {
    using garbled = await fake(`garbled-${at}`, [line])
    await refuses('hypervisor_garbled', QmpClient.connect(garbled.socket, limitMs))
  }
  for (const [at, line] of ['{"return": {}}\n', '{"error": {}, "id": 2}\n', '{"a": 1}\n', '\0\n'].entries()) {
    using garbled = await fake(`later-${at}`, [greeting], [agreed, line])
    const ends: string[] = []
    const connecting = QmpClient.connect(garbled.socket, limitMs, null, (code) => ends.push(code))
    // The line may come before the connection is handed over.
    const client = await connecting.catch((error: { code: string }) => {
      expect(error.code).toBe('hypervisor_garbled')
    })
    await until('the end', () => ends.length > 0)
    client?.close()
    expect(ends).toEqual(['hypervisor_garbled'])
  }
})

test('a line without an end is read to a limit and no further', async () => {
  const part = 'x'.repeat(1 << 20)
  using endless = await fake(
    'endless',
    Array.from({ length: 20 }, () => part),
  )
  expect(await refuses('hypervisor_garbled', QmpClient.connect(endless.socket, limitMs))).toContain('longer than')
})

test('answers to nothing that was asked are thrown away, and those that come split are put together', async () => {
  using odd = await fake(
    'odd',
    [greeting.slice(0, 30), greeting.slice(30), '\r\n'],
    ['{"return": 5, "id": 77}\r\n', agreed.slice(0, 9), agreed.slice(9)],
  )
  const client = await QmpClient.connect(odd.socket, limitMs)
  const waiting = client.execute('query-name', null, limitMs)
  client.close()
  await refuses('hypervisor_lost', waiting)
})
