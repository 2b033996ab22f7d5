import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { computer as declared } from '@backlot/contract/computer'
import { computerPort } from '@backlot/contract/computer/limits'
import { frameOf, openSocket, post, startComputer, type TestComputer } from '../support/computer.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

let computer: TestComputer

beforeAll(async () => {
  computer = await startComputer()
})

afterAll(() => computer[Symbol.asyncDispose]())

const json = async (path: string) => (await (await fetch(computer.url + path)).json()) as Record<string, unknown>

describe('POST /cmd', () => {
  test(
    'answers with exactly one frame as plain text, the fields beside `success`',
    proving(['sandbox.server.cmd', 'sandbox.server.command', 'sandbox.server.params'], async () => {
      const response = await post(computer.url, { command: 'get_environment', params: {} })
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      expect(await response.text()).toBe('data: {"success":true,"environment":"linux"}\n\n')
      for (const message of [{ command: 'version' }, { command: 'version', params: null }]) {
        expect(await frameOf(await post(computer.url, message))).toMatchObject({ success: true, protocol: 1 })
      }
    }),
  )

  test(
    'get_screen_size takes empty params',
    proving(['sandbox.server.get-screen-size'], async () => {
      expect(await computer.ask('get_screen_size', {})).toEqual({ success: true, size: { width: 1280, height: 800 } })
    }),
  )

  test('what is no command is refused with what may have been meant', async () => {
    for (const [message, detail] of [
      [{ command: 'left_clik' }, 'Unknown command: left_clik. Did you mean: left_click?'],
      [{ command: 'zzzzz' }, 'Unknown command: zzzzz'],
      [{ params: {} }, 'Command is required'],
      [{ command: '' }, 'Command is required'],
    ] as const) {
      const response = await post(computer.url, message)
      expect([response.status, await response.json()]).toEqual([400, { detail }])
    }
    for (const body of ['', '{', '[]', 'null', '"x"']) {
      const response = await fetch(`${computer.url}/cmd`, { method: 'POST', body })
      const { detail } = (await response.json()) as { detail: string }
      expect([response.status, detail]).toEqual([400, expect.stringMatching(/^Invalid JSON body: ./)])
    }
  })

  test('a wrong parameter is named, one that is not known or null is left out', async () => {
    expect(await computer.send('left_click', { x: 'far', y: 1 })).toMatchObject({
      success: false,
      code: 'invalid_argument',
      error: expect.stringContaining('"x" must be number'),
    })
    expect(await computer.send('read_text', {})).toMatchObject({ success: false, code: 'missing_argument' })
    expect(await computer.send('left_click', { x: 5 })).toMatchObject({ success: false, code: 'missing_argument' })
    await computer.ask('get_cursor_position', { later: 1, x: null })
    expect(await computer.send('multitouch_gesture', { fingers: [] })).toMatchObject({ code: 'not_available' })
  })

  test('an alias does what the command does', async () => {
    for (const alias of ['shell', 'exec']) {
      expect(await computer.ask(alias, { command: 'echo me' })).toMatchObject({ stdout: 'me\n' })
    }
    expect(await computer.ask('ls', { path: computer.home })).toHaveProperty('files')
  })

  test('a caller that accepts an event stream gets the output as it comes', async () => {
    const response = await post(
      computer.url,
      { command: 'run_command', params: { command: 'echo one; echo two >&2; sleep 0.2; echo three' } },
      { Accept: 'text/event-stream' },
    )
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const frames = (await response.text()).trimEnd().split('\n\n')
    expect(frames[0]).toMatch(/^event: started\ndata: \{"pid":\d+\}$/)
    const output = frames.slice(1, -1).map((frame) => {
      const [event, data] = frame.split('\n')
      expect(event).toBe('event: output')
      return JSON.parse((data as string).slice('data: '.length)) as { stream: string; text: string }
    })
    const of = (stream: string) => output.filter((each) => each.stream === stream).map(({ text }) => text)
    expect([of('stdout').join(''), of('stderr').join('')]).toEqual(['one\nthree\n', 'two\n'])
    expect(of('stdout').length).toBeGreaterThan(1)
    expect(JSON.parse((frames.at(-1) as string).slice('data: '.length))).toMatchObject({
      success: true,
      return_code: 1 - 1,
    })
  })
})

describe('GET', () => {
  test('/status says what works, and /commands what there is', async () => {
    const status = await json('/status')
    expect(status).toMatchObject({ status: 'ok', os_type: 'linux', phase: 'ready', server: 'backlot' })
    const works = ['display', 'input', 'accessibility', 'clipboard', 'windows', 'shell', 'files', 'pty', 'mcp', 'view']
    expect(status.features).toEqual(expect.arrayContaining(works))
    const { commands } = (await json('/commands')) as {
      commands: Record<string, { params: object[]; aliases: string[] }>
    }
    const expected = Object.keys(declared).filter((name) => name !== 'multitouch_gesture')
    expect(Object.keys(commands)).toEqual(expected)
    expect(commands.left_click?.aliases).toEqual(['click', 'tap'])
    expect(commands.write_text?.params).toMatchObject([
      { name: 'path', required: true, default: null },
      { name: 'content', required: true, default: null },
      { name: 'append', required: false, default: null },
    ])
  })

  test(
    'the usual port is the one that clients try in a guest',
    proving(['sandbox.limits.guest-port'], () => {
      expect(computerPort).toBe(8000)
    }),
  )
})

describe('WS /ws', () => {
  test('answers each message, in order, however many are under way', async () => {
    await using socket = await openSocket(computer.url)
    for (let count = 0; count < 200; count++) {
      socket.send({
        command: 'run_command',
        params: { command: count % 50 === 0 ? 'sleep 0.05; echo $0' : 'echo $0', env: { N: `${count}` } },
      })
      socket.send({ command: 'run_command', params: { command: `echo ${count}` } })
    }
    for (let count = 0; count < 200; count++) {
      expect(await socket.next()).toMatchObject({ success: true })
      expect(await socket.next()).toMatchObject({ stdout: `${count}\n` })
    }
  })

  test('the flat form gives `result` beside the fields', async () => {
    await using socket = await openSocket(computer.url)
    const size = { width: 1280, height: 800 }
    expect(await socket.ask({ command: 'get_screen_size' })).toEqual({ success: true, size, result: size })
    expect(await socket.ask({ command: 'get_environment' })).toMatchObject({ result: 'linux' })
    expect(await socket.ask({ command: 'run_command', command_args: 'echo flat', timeout: 5 })).toMatchObject({
      stdout: 'flat\n',
      result: { stdout: 'flat\n', return_code: 0 },
    })
    const { image_data, result } = await socket.ask({ command: 'screenshot' })
    expect(result).toBe(image_data)
    expect(await socket.ask({ command: 'get_screen_size', params: {} })).not.toHaveProperty('result')
  })

  test('what is no command leaves the socket open', async () => {
    await using socket = await openSocket(computer.url)
    expect(await socket.ask('{')).toMatchObject({ success: false, error: expect.stringContaining('Invalid JSON') })
    expect(await socket.ask([])).toMatchObject({ success: false })
    expect(await socket.ask({ command: 'nothing_like_it' })).toMatchObject({
      success: false,
      error: 'Unknown command: nothing_like_it',
    })
    expect(await socket.ask({ command: 'version', params: {} })).toMatchObject({ success: true })
  })

  test('a command ends with the socket that asked for it', async () => {
    const socket = await openSocket(computer.url)
    socket.send({ command: 'run_command', params: { command: 'echo $$ > ~/lives; exec sleep 1000' } })
    const pid = await until('the command', async () => (await computer.shell('cat ~/lives 2>/dev/null')).trim())
    await socket[Symbol.asyncDispose]()
    await until('the command to end', async () =>
      (await computer.shell(`kill -0 ${pid} 2>&1 || echo gone`)).includes('gone'),
    )
  })

  test('a large message arrives whole', async () => {
    await using socket = await openSocket(computer.url)
    const bytes = crypto.getRandomValues(new Uint8Array(65_536))
    const content_b64 = Buffer.concat(Array.from({ length: 320 }, () => bytes)).toString('base64')
    expect(await socket.ask({ command: 'write_bytes', params: { path: 'large', content_b64 } })).toMatchObject({
      success: true,
    })
    expect((await computer.shell('wc -c < ~/large')).trim()).toBe(String(320 * 65_536))
    const read = await socket.ask({ command: 'read_bytes', params: { path: 'large' } })
    expect(read.content_b64 === content_b64).toBe(true)
  })
})
