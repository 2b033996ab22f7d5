import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startComputer, type TestComputer } from '../support/computer.ts'
import { until } from '../support/until.ts'

let computer: TestComputer

beforeAll(async () => {
  computer = await startComputer(['--port', '0'])
})

afterAll(() => computer[Symbol.asyncDispose]())

type Frame = { type: 'output'; data: string } | { type: 'exit'; code: number }

const call = async (method: string, path: string, body?: object) => {
  const response = await fetch(computer.url + path, { method, ...(body && { body: JSON.stringify(body) }) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const start = async (command: string, more: object = {}): Promise<number> =>
  (await call('POST', '/pty', { command, ...more })).body.pid as number

/** What a stream has told: its output as text, and its exit status. */
const follow = async (pid: number, headers: Record<string, string> = {}) => {
  const gone = new AbortController()
  const { body } = await fetch(`${computer.url}/pty/${pid}/stream`, { headers, signal: gone.signal })
  const seen = { output: '', last: '', code: undefined as number | undefined, isOver: false }
  const take = (text: string) => {
    const data = /^data: (.*)$/m.exec(text)?.[1]
    if (data === undefined) return
    seen.last = /^id: (\d+)$/m.exec(text)?.[1] ?? seen.last
    const frame = JSON.parse(data) as Frame
    if (frame.type === 'output') seen.output += Buffer.from(frame.data, 'base64').toString()
    else seen.code = frame.code
  }
  const reading = (async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const part of body ?? []) {
      text += decoder.decode(part, { stream: true })
      const frames = text.split('\n\n')
      text = frames.pop() ?? ''
      for (const frame of frames) take(frame)
    }
    seen.isOver = true
  })().catch(() => undefined)
  return {
    seen,
    stop: async () => {
      gone.abort()
      await reading
    },
  }
}

test('runs a shell that takes input and resizes', async () => {
  const { body } = await call('POST', '/pty', { cols: 100, rows: 30, envs: { PS1: '> ' } })
  expect(body).toMatchObject({ cols: 100, rows: 30, running: true, exit_code: null })
  const pid = body.pid as number
  const { seen, stop } = await follow(pid)
  await call('POST', `/pty/${pid}/stdin`, { data: 'stty size; tty\n' })
  await until('the size', () => /30 100[\s\S]*\/dev\/pts/.test(seen.output))
  expect((await call('POST', `/pty/${pid}/resize`, { cols: 60, rows: 20 })).body).toMatchObject({ cols: 60, rows: 20 })
  await call('POST', `/pty/${pid}/stdin`, { data: Buffer.from('stty size\n').toString('base64') })
  await until('the new size', () => seen.output.includes('20 60'))
  await call('POST', `/pty/${pid}/stdin`, { data: 'exit 5\n' })
  await until('its end', () => seen.code === 5 && seen.isOver)
  expect((await call('GET', `/pty/${pid}`)).body).toMatchObject({ running: false, exit_code: 5 })
  await stop()
})

test('keeps output for who comes later, and ends the stream of who comes last', async () => {
  const pid = await start('echo early; exit 3')
  await until('its end', async () => (await call('GET', `/pty/${pid}`)).body.exit_code === 3)
  for (let again = 0; again < 2; again++) {
    const { seen } = await follow(pid)
    await until('the stream to end', () => seen.isOver)
    expect([seen.output, seen.code]).toEqual(['early\r\n', 3])
  }
})

test('who comes back gets what it missed and nothing twice', async () => {
  const pid = await start('for i in 1 2 3 4 5; do echo line $i; read x; done')
  const first = await follow(pid)
  await until('the first line', () => first.seen.output.includes('line 1'))
  await first.stop()
  await call('POST', `/pty/${pid}/stdin`, { data: '\n\n' })
  const second = await follow(pid, { 'Last-Event-ID': first.seen.last })
  await until('the third line', () => second.seen.output.includes('line 3'))
  expect(second.seen.output).not.toContain('line 1')
  await second.stop()
  expect((await call('DELETE', `/pty/${pid}`)).body).toMatchObject({ killed: true, exit_code: 137 })
})

test('of a long output the end is kept', async () => {
  const pid = await start('seq 1 400000')
  await until('its end', async () => (await call('GET', `/pty/${pid}`)).body.exit_code === 0)
  const { seen } = await follow(pid)
  await until('the stream to end', () => seen.isOver)
  expect(seen.output.endsWith('400000\r\n')).toBe(true)
  expect(seen.output.length).toBeGreaterThan(1_000_000)
  expect(seen.output.length).toBeLessThan(2_000_000)
})

test('ends all that runs in it', async () => {
  const pid = await start('sleep 621.5 & sleep 621.5')
  await until('both', async () => (await computer.shell('pgrep -fc "[s]leep 621.5"')).trim() === '3')
  await call('DELETE', `/pty/${pid}`)
  await until('neither', async () => (await computer.shell('pgrep -fc "[s]leep 621.5" || true')).trim() === '0')
})

test('over a WebSocket output and input go both ways', async () => {
  const pid = await start('while read x; do echo got $x; done')
  const socket = new WebSocket(`${computer.url.replace('http', 'ws')}/pty/${pid}/ws`)
  const frames: Frame[] = []
  socket.onmessage = ({ data }) => void frames.push(JSON.parse(String(data)) as Frame)
  await until('the socket', () => socket.readyState === WebSocket.OPEN)
  socket.send('plain\n')
  socket.send(JSON.stringify({ type: 'input', data: Buffer.from('coded\n').toString('base64') }))
  socket.send(new TextEncoder().encode('bytes\n\u0004'))
  const output = () =>
    frames.map((frame) => (frame.type === 'output' ? Buffer.from(frame.data, 'base64').toString() : '')).join('')
  await until('the exit', () => frames.at(-1)?.type === 'exit')
  for (const word of ['plain', 'coded', 'bytes']) expect(output()).toContain(`got ${word}`)
  await until('the socket to close', () => socket.readyState === WebSocket.CLOSED)
})

test('the commands do the same', async () => {
  const { pid } = await computer.ask('terminal_create', { shell: 'cat', cols: 50, rows: 10 })
  await computer.ask('terminal_resize', { pid, cols: 40, rows: 12 })
  await computer.ask('terminal_send', { pid, data: 'hello\n' })
  const { seen, stop } = await follow(pid as number)
  await until('the echo', () => seen.output.includes('hello'))
  expect(await computer.ask('terminal_close', { pid })).toMatchObject({ result: 137 })
  await stop()
  expect(await computer.send('terminal_send', { pid: 999_999_999, data: '' })).toMatchObject({
    code: 'terminal_unknown',
  })
})

test('what is no terminal is not found', async () => {
  for (const path of ['/pty/1', '/pty/0', '/pty/x', '/pty/99999999999']) {
    expect([path, (await call('GET', path)).status]).toEqual([path, 404])
  }
  expect((await call('POST', '/pty', { cols: 0 })).body).toMatchObject({ code: 'invalid_body' })
})

test('more terminals than a server keeps are refused', async () => {
  const pids: number[] = []
  for (;;) {
    const { status, body } = await call('POST', '/pty', { command: 'cat' })
    if (status !== 200) {
      expect([status, body.code]).toEqual([409, 'too_many_terminals'])
      break
    }
    pids.push(Number(body.pid))
    expect(pids.length).toBeLessThan(100)
  }
  await Promise.all(pids.map((pid) => call('DELETE', `/pty/${pid}`)))
  expect(pids.length).toBeGreaterThan(50)
})
