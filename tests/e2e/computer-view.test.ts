import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Browser, openBrowser } from '../support/browser.ts'
import { openSocket, startComputer, type TestComputer } from '../support/computer.ts'
import { until } from '../support/until.ts'

let computer: TestComputer
let browser: Browser

beforeAll(async () => {
  computer = await startComputer()
  browser = await openBrowser(['--window-size=1400,900'])
})

afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await computer[Symbol.asyncDispose]()
})

/** How many colours the screen shows: one as long as nothing was drawn. */
const colours = `(() => {
  const canvas = document.querySelector('.screen canvas')
  if (canvas === null || canvas.width === 0) return 0
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  return new Set(new Uint32Array(data.buffer)).size
})()`

/** The screen is there, and the page knows it. */
const isShown = `document.querySelector('.view')?.dataset.shown === 'true' && ${colours} > 1`

const words = `document.querySelector('[role=status]')?.textContent`
const control = `document.querySelector('.view')?.dataset.control`
/** Presses a button of the page once it is there: what the server has done, the page shows a moment later. */
const press = async (text: string): Promise<void> => {
  const found = `[...document.querySelectorAll('button')].find((each) => each.textContent === '${text}')`
  await browser.until(found)
  await browser.evaluate(`${found}.click()`)
}

/** A script that sends the screen messages of its own (RFB), then a request, and waits for the answer to that. */
const speaking = (messages: readonly (readonly number[])[]) => `new Promise((settle) => {
  const socket = new WebSocket(location.href.replace('http', 'ws') + '/screen', 'binary')
  socket.binaryType = 'arraybuffer'
  let step = 0
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') return
    const answers = [new TextEncoder().encode('RFB 003.008\\n'), new Uint8Array([1]), new Uint8Array([1])]
    if (step < answers.length) socket.send(answers[step])
    step += 1
    // After ServerInit.
    if (step < 4) return
    if (step > 4) return settle('answered')
    for (const message of ${JSON.stringify(messages)}) socket.send(new Uint8Array(message))
    socket.send(new Uint8Array([3, 0, 0, 0, 0, 0, 0, 10, 0, 10]))
  }
  socket.onclose = ({ code }) => settle('closed ' + code)
})`

const click = () => computer.send('left_click', { x: 700, y: 700 })

test('shows the screen to who looks on, who cannot act', async () => {
  // Its shell writes what it is given, the only witness of keys.
  await computer.ask('launch', {
    app: 'xterm',
    args: ['-geometry', '80x24+300+200', '-e', 'sh', '-c', 'stty -echo; cat > ~/typed'],
  })
  await until('the terminal', async () => (await computer.ask('get_active_window_title')).result !== '')
  await browser.goTo(`${computer.url}/view`)
  await browser.until(isShown)
  expect(await browser.evaluate(words)).toBe('You look on.')
  await browser.evaluate(`document.querySelector('.screen canvas').focus()`)
  await browser.press('x')
  // What a page sends itself, past the script of ours, is left out by the server.
  const key = (down: number) => [4, down, 0, 0, 0, 0, 0, 121]
  const sent = await browser.evaluate<string>(speaking([key(1), key(0)]))
  expect(sent).toBe('answered')
  expect(await computer.shell('cat ~/typed')).toBe('')
  expect(await click()).toMatchObject({ success: true })
})

test('who takes over acts, and no command and no tool does', async () => {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${computer.url}/mcp`)))
  await using socket = await openSocket(computer.url)
  const listed = await client.callTool({ name: 'list_windows', arguments: {} })
  const { windows } = listed.structuredContent as { windows: { pid: number; window_id: number; app_name: string }[] }
  const terminal = windows.find(({ app_name }) => /xterm/i.test(app_name))
  const tool = () =>
    client.callTool({ name: 'click', arguments: { pid: terminal?.pid, window_id: terminal?.window_id, x: 5, y: 5 } })
  const isHalted = async () => {
    const refused = { success: false, code: 'paused_by_person' }
    expect(await click()).toMatchObject(refused)
    expect(await socket.ask({ command: 'type_text', params: { text: 'no' } })).toMatchObject(refused)
    expect((await tool()).structuredContent).toMatchObject({ code: 'paused_by_person' })
    // Looking goes on.
    expect(await computer.ask('get_cursor_position')).toBeDefined()
  }
  const goesOn = async () => {
    expect(await click()).toMatchObject({ success: true })
    expect((await tool()).isError).not.toBe(true)
  }
  await goesOn()

  await press('Take over')
  await browser.until(`${control} === 'mine'`)
  await isHalted()
  await browser.evaluate(`document.querySelector('.screen canvas').focus()`)
  await computer.shell('true')
  await browser.press('h')
  await browser.press('Enter')
  await until('the key of the person', async () => (await computer.shell('cat ~/typed')).includes('h'))
  await press('Let go')
  await browser.until(`${control} === 'none'`)
  await goesOn()
  expect(await computer.ask('get_screen_size')).toMatchObject({ size: { width: 1280, height: 800 } })

  // The end of the page is the end of what it took over.
  await press('Take over')
  await browser.until(`${control} === 'mine'`)
  await isHalted()
  await browser.goTo('about:blank')
  await until('commands to act again', async () => (await click()).success)
  await goesOn()
  await client.close()
})

test('a command under way is halted when the person takes over', async () => {
  await browser.goTo(`${computer.url}/view`)
  await browser.until(isShown)
  const typing = computer.send('type_text', { text: 'a'.repeat(2_000), delay: 0.05 })
  await until('the first letters', async () => (await computer.shell('wc -c < ~/typed; true')).trim() !== '')
  await press('Take over')
  expect(await typing).toMatchObject({ success: false, code: 'paused_by_person' })
  await press('Let go')
  await browser.until(`${control} === 'none'`)
})

test('keys that a command holds down are let go when the person takes over', async () => {
  await computer.ask('key_down', { key: 'shift' })
  await press('Take over')
  await browser.until(`${control} === 'mine'`)
  await browser.evaluate(`document.querySelector('.screen canvas').focus()`)
  await browser.press('q')
  await browser.press('Enter')
  await until('the key of the person', async () => /q/i.test(await computer.shell('tail -c 3 ~/typed')))
  expect(await computer.shell('tail -c 3 ~/typed')).toContain('q')
  await press('Let go')
  await browser.until(`${control} === 'none'`)
})

describe('the clipboard', () => {
  const inClipboard = () => computer.shell('xclip -selection clipboard -o')
  const area = `document.querySelector('.clipboard textarea')`
  const copy = (text: string) => computer.shell(`printf '${text}' | xclip -selection clipboard -i`)

  beforeEach(async () => {
    await computer.ask('set_clipboard', { text: 'before' })
    await browser.goTo(`${computer.url}/view`)
    await browser.until(isShown)
  })

  test('is not changed by who looks on, nor shown to them', async () => {
    await press('Clipboard')
    expect(await browser.evaluate(`${area} === null`)).toBe(true)
    // The text itself (ClientCutText), and word of one that could be fetched (the extended form, flags `notify` and `text`).
    const words = [...Buffer.from('from who looks on')]
    const told = [6, 0, 0, 0, 0, 0, 0, words.length, ...words]
    const offered = [6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfc, 0x08, 0, 0, 1]
    expect(await browser.evaluate<string>(speaking([told, offered]))).toBe('answered')
    expect(await inClipboard()).toBe('before')
  })

  test('leaves the screen to who looks on when something is copied', async () => {
    const joined = () => computer.log().match(/GET \/view\/screen/g)?.length
    const before = joined()
    await browser.evaluate(`window.screens = 0
      new MutationObserver(() => (window.screens += document.querySelector('.view').dataset.shown === 'true' ? 0 : 1))
        .observe(document.body, { subtree: true, attributes: true })`)
    for (const text of ['one', 'a second']) {
      await copy(text)
      await until('the text', async () => (await inClipboard()) === text)
      // What the screen sends after that has come.
      expect(await browser.evaluate<string>(speaking([]))).toBe('answered')
    }
    await computer.ask('move_cursor', { x: 600, y: 10 })
    expect([await browser.evaluate<number>('window.screens'), joined()]).toEqual([0, Number(before) + 2])
  })

  test('goes in both directions while a person acts', async () => {
    await press('Take over')
    await browser.until(`${control} === 'mine'`)
    await press('Clipboard')
    await browser.until(`${area} !== null`)
    await browser.evaluate(`${area}.select()`)
    await browser.type('Grüße 世界 😀')
    await press('Send')
    await until('the text of the person', async () => (await inClipboard()) === 'Grüße 世界 😀')

    await copy('für die Person 世界')
    await browser.until(`${area}.value === 'für die Person 世界'`)

    await press('Let go')
    await browser.until(`${control} === 'none' && ${area} === null`)
    await copy('for programs')
    await until('the text for programs', async () => (await inClipboard()) === 'for programs')
    expect(await browser.evaluate<string>('document.body.innerText')).not.toContain('for programs')
  })

  test('shows what was copied before the person asked for it', async () => {
    await copy('copied before')
    await press('Take over')
    await browser.until(`${control} === 'mine'`)
    await press('Clipboard')
    await browser.until(`${area} !== null && ${area}.value === 'copied before'`)
    await press('Let go')
    await browser.until(`${control} === 'none'`)
  })
})
