import { expect, test } from 'bun:test'
import { HTTPTransport, Sandbox } from '@backlot/sdk'
import { startBareServer } from '../support/bare-server.ts'
import { openBrowser } from '../support/browser.ts'
import { startComputer } from '../support/computer.ts'
import { until } from '../support/until.ts'

const key = 'the-key-of-this-computer'
const withKey = { BACKLOT_COMPUTER_KEY: key }

/** How many colours the element shows that draws the screen: one as long as nothing was drawn. */
const colours = (screen: string) => `(() => {
  const canvas = document.querySelector('${screen}')
  if (canvas === null || canvas.width === 0) return 0
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  return new Set(new Uint32Array(data.buffer)).size
})()`

/**
 * A script that asks to act and sends the screen a key and a press of its own (RFB), then a request, and gives how that
 * ended and what it was told of who acts.
 */
const acting = (query: string) => `new Promise((settle) => {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/view/screen${query}', 'binary')
  socket.binaryType = 'arraybuffer'
  const told = []
  let step = 0
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') return told.push(JSON.parse(data).mine)
    const answers = [new TextEncoder().encode('RFB 003.008\\n'), new Uint8Array([1]), new Uint8Array([1])]
    if (step < answers.length) socket.send(answers[step])
    step += 1
    // After ServerInit.
    if (step < 4) return
    if (step > 4) return settle({ end: 'answered', told })
    socket.send('{"type": "take_over"}')
    for (const down of [1, 0]) socket.send(new Uint8Array([4, down, 0, 0, 0, 0, 0, 121]))
    for (const buttons of [1, 0]) socket.send(new Uint8Array([5, buttons, 0, 50, 0, 60]))
    socket.send(new Uint8Array([3, 0, 0, 0, 0, 0, 0, 10, 0, 10]))
  }
  socket.onclose = () => settle({ end: 'closed', told })
})`

const buttons = `[...document.querySelectorAll('button')].map((each) => each.textContent)`

/** Where the display says that the pointer is. */
const pointer = async (sandbox: Sandbox): Promise<string> => {
  const { stdout } = await sandbox.shell.run('xdotool getmouselocation')
  return /x:(\d+) y:(\d+)/.exec(stdout)?.slice(1).join(' ') ?? stdout
}

test('who was let in to look on sees the screen, and nothing that the page sends does anything', async () => {
  await using computer = await startComputer(['--desktop', '--port', '0'], withKey)
  await using sandbox = await Sandbox.connect('lab', { httpUrl: computer.url, apiKey: key })
  await using browser = await openBrowser()
  // A shell writes what is typed into it.
  await sandbox.launch('xterm', { args: ['-geometry', '80x24+0+0', '-e', 'sh', '-c', 'stty -echo; cat > ~/typed'] })
  const typed = async () => (await sandbox.shell.run('cat ~/typed')).stdout
  await sandbox.mouse.click(200, 200)
  const before = await pointer(sandbox)

  const url = await sandbox.getDisplayUrl({ viewOnly: true })
  expect(new URL(url).searchParams.get('view_only')).toBe('true')
  await browser.goTo(url)
  await browser.until(`document.querySelector('.view')?.dataset.shown === 'true' && ${colours('.screen canvas')} > 1`)
  expect(await browser.evaluate<string[]>(buttons)).toEqual(['Full screen'])
  await browser.evaluate(`document.querySelector('.screen canvas').focus()`)
  await browser.press('x')
  await browser.press('Enter')
  for (const type of ['mousePressed', 'mouseReleased']) {
    await browser.send('Input.dispatchMouseEvent', { type, x: 700, y: 500, button: 'left', clickCount: 1 })
  }
  const sent = await browser.evaluate<{ end: string; told: boolean[] }>(acting('?view_only=true'))
  expect([sent.end, sent.told.includes(true)]).toEqual(['answered', false])
  // What the browser was let in with leads nowhere else.
  expect((await browser.evaluate<{ end: string }>(acting(''))).end).toBe('closed')
  const statuses = await browser.evaluate<number[]>(`Promise.all([
    fetch('/cmd', { method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: '{"command": "type_text", "params": {"text": "no"}}' }),
    fetch('/view/link', { method: 'POST' }),
    fetch('/commands'),
    fetch('/files?path=/etc/hostname'),
    fetch('/view'),
  ].map(async (answer) => (await answer).status))`)
  expect(statuses).toEqual([401, 401, 401, 401, 200])

  // A key that does reach the shell comes after all of those.
  await sandbox.keyboard.type('seen\n')
  await until('the text that is typed by a command', async () => (await typed()) !== '')
  expect([await typed(), await pointer(sandbox)]).toEqual(['seen\n', before])
  expect(computer.log()).not.toContain(new URL(url).searchParams.get('link') ?? '?')
})

test('a browser that may act does so with the same messages', async () => {
  await using computer = await startComputer(['--desktop', '--port', '0'], withKey)
  await using sandbox = await Sandbox.connect('lab', { httpUrl: computer.url, apiKey: key })
  await using browser = await openBrowser()
  await browser.goTo(await sandbox.getDisplayUrl())
  const sent = await browser.evaluate<{ told: boolean[] }>(acting(''))
  expect(sent.told).toContain(true)
  await until('the press', async () => (await pointer(sandbox)) === '50 60')
})

test('where there is no screen to act on, who looks on sees the film', async () => {
  await using display = await startBareServer('-screen', '0', '640x480x24')
  await using computer = await startComputer(['--port', '0'], { ...withKey, DISPLAY: display.display })
  await using sandbox = await Sandbox.connect('lab', { httpUrl: computer.url, apiKey: key })
  const root = Bun.spawn(['xterm', '-geometry', '40x10+0+0', '-e', 'sh', '-c', 'seq 60; exec cat'], {
    env: { ...process.env, DISPLAY: display.display },
    stderr: 'ignore',
  })
  await using browser = await openBrowser()
  expect(await sandbox.getDisplayUrl().catch((error) => error.code)).toBe('unsupported')
  await browser.goTo(await sandbox.getDisplayUrl({ viewOnly: true }))
  await browser.until(`document.querySelector('.view')?.dataset.shown === 'true'`)
  await browser.until(`${colours('canvas.film')} > 1`)
  expect(await browser.evaluate<string[]>(buttons)).toEqual(['Full screen'])
  root.kill('SIGKILL')
  await root.exited
})

test('a server that knows no such page is told apart, and one without a key keeps to it by its page', async () => {
  await using older = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) =>
      Response.json(
        url.endsWith('/link')
          ? { url: 'http://127.0.0.1/view?link=x' }
          : { status: 'ok', features: ['view'], commands: {} },
      ),
  })
  await using old = await Sandbox.connect('old', { transport: new HTTPTransport(older.url.origin) })
  const met = await old.getDisplayUrl({ viewOnly: true }).catch((error) => [error.code, error.message])
  expect(met).toEqual(['unsupported', expect.stringContaining('Update it')])

  await using computer = await startComputer()
  await using sandbox = await Sandbox.connect('lab', { httpUrl: computer.url })
  expect(await sandbox.getDisplayUrl({ viewOnly: true })).toBe(`${computer.url}/view?view_only=true`)
  await using browser = await openBrowser()
  await browser.goTo(await sandbox.getDisplayUrl({ viewOnly: true }))
  const { told } = await browser.evaluate<{ told: boolean[] }>(acting('?view_only=true'))
  expect(told).not.toContain(true)
})
