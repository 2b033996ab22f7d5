import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileProgram, devicePrograms, java } from '../../ts/cli/generated/android-dex.ts'
import { agentDex } from '../../ts/computer/backends/android/agent/dex.ts'
import { type AgentRequest, bytesOfRequest } from '../../ts/computer/backends/android/agent/requests.ts'
import type { Fields } from '../support/computer.ts'
import { compileFakeAgent } from '../support/fake-agent.ts'
import { type FakePhone, startFakePhone } from '../support/fake-device.ts'
import { until } from '../support/until.ts'

let phone: FakePhone

beforeAll(async () => {
  phone = await startFakePhone({ agent: true })
})

afterAll(async () => {
  await phone?.[Symbol.asyncDispose]()
})

const ask = (command: string, params?: Fields) => phone.computer.ask(command, params)
const send = (command: string, params?: Fields) => phone.computer.send(command, params)
const events = () => phone.device.read('agent-events').toString().trimEnd().split('\n')

/** The requests of the golden bytes, in their order. */
const requests: readonly AgentRequest[] = [
  { ask: 'hello' },
  {
    ask: 'touch',
    fingers: [
      [0, 10, 20],
      [5, 100, 200],
    ],
  },
  {
    ask: 'touch',
    fingers: [
      [0, 10, 20],
      [5, 100.5, 200],
    ],
  },
  { ask: 'touch', fingers: [[5, 100.5, 200]] },
  { ask: 'touch', fingers: [] },
  { ask: 'get_clipboard' },
  { ask: 'set_clipboard', text: 'Grüße 文' },
  { ask: 'get_clipboard' },
  { ask: 'type_text', text: 'ab' },
  { ask: 'type_text', text: '😀' },
  { ask: 'get_clipboard' },
]

test('requests and answers are the bytes that are kept, on both sides', async () => {
  const lines = readFileSync(join(import.meta.dir, '../golden/android-agent.txt'), 'utf8')
    .trimEnd()
    .split('\n')
  const rows = lines.map((line) =>
    line
      .replace(/^\w+ /, '')
      .replaceAll(/ (?!=)|(?<==) /g, '')
      .split(' ='),
  )
  expect(requests.map((request) => bytesOfRequest(request).toString('hex'))).toEqual(rows.map(([bytes = '']) => bytes))

  const folder = mkdtempSync(join(tmpdir(), 'agent-'))
  compileFakeAgent(folder)
  const environment = { PATH: process.env.PATH ?? '', FAKE_DEVICE: folder }
  const child = Bun.spawn([...java, '-cp', folder, 'backlot.agent.Main'], {
    env: environment,
    stdin: Buffer.from(rows.map(([bytes]) => bytes).join(''), 'hex'),
    stderr: 'pipe',
  })
  const answers = Buffer.from(await new Response(child.stdout).arrayBuffer()).toString('hex')
  expect([answers, await child.stderr.text(), await child.exited]).toEqual([
    rows.map(([, bytes]) => bytes).join(''),
    '',
    0,
  ])
  expect(readFileSync(join(folder, 'agent-events'), 'utf8').trimEnd().split('\n')).toEqual([
    'DOWN 0:10.0,20.0',
    'POINTER_DOWN 5 0:10.0,20.0 5:100.0,200.0',
    'MOVE 0:10.0,20.0 5:100.5,200.0',
    'POINTER_UP 0 0:10.0,20.0 5:100.5,200.0',
    'UP 5:100.5,200.0',
    ...['KEY_DOWN 29', 'KEY_UP 29', 'KEY_DOWN 30', 'KEY_UP 30', 'KEY_DOWN 279', 'KEY_UP 279'],
  ])
  expect(readFileSync(join(folder, 'typed'), 'utf8')).toBe('ab😀')
  rmSync(folder, { recursive: true })
})

test('the DEX that is held is whole, and is what its sources compile to', () => {
  const dex = Buffer.from(agentDex, 'base64')
  expect(dex.toString('latin1', 0, 8)).toBe('dex\n035\0')
  expect(dex.readUInt32LE(8)).toBe(Bun.hash.adler32(dex.subarray(12)))
  expect(dex.toString('hex', 12, 32)).toBe(createHash('sha1').update(dex.subarray(32)).digest('hex'))
  expect(dex.readUInt32LE(32)).toBe(dex.byteLength)
  const again = compileProgram(join(import.meta.dir, '../..'), devicePrograms.agent)
  // Another javac may order the same things otherwise: strings, types, prototypes, fields, methods, classes.
  const counts = (bytes: Buffer) => [56, 64, 72, 80, 88, 96].map((at) => bytes.readUInt32LE(at))
  expect(counts(again)).toEqual(counts(dex))
})

test('the clipboard is read and set, and the device keeps nothing of the agent', async () => {
  expect(await ask('copy_to_clipboard')).toEqual({ success: true, content: '', result: '' })
  const text = "It's $HOME; 世界 😀\n"
  await ask('set_clipboard', { text })
  expect(phone.device.read('clipboard').toString()).toBe(text)
  expect(await ask('copy_to_clipboard')).toMatchObject({ content: text, result: text })
  expect(phone.device.read('agent.dex').equals(Buffer.from(agentDex, 'base64'))).toBe(true)
  expect((await ask('list_dir', { path: '~' })).files).toEqual([])
})

test('the wallpaper is set on the home screen, the lock screen, or both', async () => {
  const pictures = () => ['wallpaper.home', 'wallpaper.lock'].map((name) => phone.device.read(name).toString())
  for (const [target, content, expected] of [
    ['both', 'one', ['one', 'one']],
    ['lock', 'two', ['one', 'two']],
    [undefined, 'three', ['three', 'two']],
  ] as const) {
    await ask('write_text', { path: '~/picture', content })
    await ask('set_wallpaper', { path: '~/picture', ...(target && { target }) })
    expect(pictures()).toEqual([...expected])
  }
  expect(await send('set_wallpaper', { path: '~/none' })).toMatchObject({ code: 'file_not_found' })
  await ask('delete_file', { path: '~/picture' })
})

test('any text is typed, by keys and by pasting, and the clipboard is as it was', async () => {
  phone.device.set('typed', '')
  await ask('set_clipboard', { text: 'kept' })
  await ask('type_text', { text: 'a 世界 b\n😀' })
  expect(phone.device.typed()).toBe('a 世界 b\n😀')
  expect(await ask('copy_to_clipboard')).toMatchObject({ content: 'kept' })
})

test('several fingers move at once in the time of the gesture', async () => {
  phone.device.set('agent-events', '')
  const began = performance.now()
  await ask('multitouch_gesture', {
    fingers: [
      { start: [100, 100], end: [200, 300] },
      { start: [500, 500], end: [400, 300] },
    ],
    duration_ms: 100,
    steps: 2,
  })
  expect(performance.now() - began).toBeGreaterThanOrEqual(99)
  expect(events()).toEqual([
    'DOWN 0:100.0,100.0',
    'POINTER_DOWN 1 0:100.0,100.0 1:500.0,500.0',
    'MOVE 0:150.0,200.0 1:450.0,400.0',
    'MOVE 0:200.0,300.0 1:400.0,300.0',
    'POINTER_UP 0 0:200.0,300.0 1:400.0,300.0',
    'UP 1:400.0,300.0',
  ])
})

test('a gesture whose caller goes away lifts its fingers; so does an agent that is ended, and the next one works', async () => {
  const params = { fingers: [{ start: [1, 2], end: [3, 4] }], duration_ms: 60_000 }
  const isDown = () => events().length > 2
  const isUp = () => events().at(-1)?.startsWith('UP 0:')
  const caller = new AbortController()
  phone.device.set('agent-events', '')
  const given = fetch(`${phone.computer.url}/cmd`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ command: 'multitouch_gesture', params }),
    signal: caller.signal,
  }).catch(() => 'gone')
  await until('the finger to be down', isDown)
  caller.abort()
  expect(await given).toBe('gone')
  await until('the finger to be up', isUp)

  phone.device.set('agent-events', '')
  const ended = send('multitouch_gesture', params)
  await until('the finger to be down', isDown)
  await ask('run_command', { command: 'pkill -KILL -f backlot.agent.Main' })
  expect(await ended).toMatchObject({ success: false, code: 'device_failed' })
  expect(await ask('copy_to_clipboard')).toMatchObject({ content: 'kept' })
})

test('what Android refuses is told in its words, and the agent goes on', async () => {
  phone.device.set('refuse.events', '')
  const params = { fingers: [{ start: [1, 2], end: [3, 4] }], duration_ms: 0, steps: 1 }
  expect(await send('multitouch_gesture', params)).toMatchObject({
    code: 'device_failed',
    error: expect.stringContaining('Android has not taken DOWN 0:1.0,2.0'),
  })
  phone.device.unset('refuse.events')
  phone.device.set('agent-events', '')
  await ask('multitouch_gesture', params)
  expect(events()).toEqual(['DOWN 0:1.0,2.0', 'MOVE 0:3.0,4.0', 'UP 0:3.0,4.0'])
})

test('/status counts the clipboard and touches among what works', async () => {
  const status = (await (await fetch(`${phone.computer.url}/status`)).json()) as { features: string[] }
  expect(status.features).toEqual(expect.arrayContaining(['clipboard', 'touch']))
})
