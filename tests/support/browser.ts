/** A headless Chromium that a test drives: one page, through the DevTools protocol. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

/** The browser and its page; disposing of it ends the process and removes its profile. */
export interface Browser extends AsyncDisposable {
  /** What went wrong in the page: thrown errors, refused loads, messages of the console's level `error`. */
  readonly faults: readonly string[]
  /** Goes to an address and waits until it is loaded. */
  goTo(url: string): Promise<void>
  /** The value of an expression in the page; promises are awaited. */
  evaluate<T>(expression: string): Promise<T>
  /** Waits until the expression is true in the page. */
  until(expression: string, patienceMs?: number): Promise<void>
  /** Presses and releases a key by its name: `Enter`, `Tab`, `a`. */
  press(key: string, modifiers?: number): Promise<void>
  type(text: string): Promise<void>
  /** One command of the protocol. */
  send(method: string, params?: Record<string, unknown>): Promise<Readonly<Record<string, unknown>>>
  /** The page as a PNG. */
  picture(): Promise<Buffer>
}

const usual = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--no-proxy-server',
  '--hide-scrollbars',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-port=0',
]

const keyCodes: Readonly<Record<string, number>> = { Tab: 9, Enter: 13, Escape: 27, ' ': 32, '-': 189, '/': 191 }

/** Where a key stands on the keyboard, as far as its name does not say it. */
const places: Readonly<Record<string, string>> = { ' ': 'Space', '-': 'Minus', '/': 'Slash' }

/** Starts the browser with further `flags`. */
export const openBrowser = async (flags: readonly string[] = ['--window-size=1280,900']): Promise<Browser> => {
  const profile = await mkdtemp(join(tmpdir(), 'backlot-browser-'))
  const child = Bun.spawn(['chromium', ...usual, ...flags, `--user-data-dir=${profile}`, 'about:blank'], {
    // One that is killed leaves its lock there.
    env: { ...process.env, TMPDIR: profile },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const socket = new WebSocket(await pageOf(await debuggerAddress(child.stderr)))
  await new Promise((settle, fail) => {
    socket.onopen = settle
    socket.onerror = fail
  })
  const faults: string[] = []
  const waiting = new Map<number, (message: Message) => void>()
  const listeners = new Set<(message: Message) => void>()
  let count = 0
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data) as Message
    if (message.id !== undefined) waiting.get(message.id)?.(message)
    const fault = faultOf(message)
    if (fault !== undefined) faults.push(fault)
    for (const listener of listeners) listener(message)
  }
  const send: Browser['send'] = (method, params = {}) =>
    new Promise((settle, fail) => {
      const id = ++count
      waiting.set(id, ({ result = {}, error }) => {
        waiting.delete(id)
        if (error === undefined) settle(result)
        else fail(new Error(`${method}: ${error.message}`))
      })
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, method, params }))
      else fail(new Error(`${method}: the browser has ended`))
    })
  // One that has ended answers nothing more.
  socket.onclose = () => {
    for (const [id, settle] of waiting) settle({ id, error: { message: 'the browser has ended' } })
  }
  const happens = (method: string): Promise<void> =>
    new Promise((settle) => {
      const listener = (message: Message) => {
        if (message.method !== method) return
        listeners.delete(listener)
        settle()
      }
      listeners.add(listener)
    })
  const evaluate: Browser['evaluate'] = async (expression) => {
    const answer = (await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })) as {
      result: { value: never }
      exceptionDetails?: { exception?: { description?: string } }
    }
    if (answer.exceptionDetails !== undefined) throw new Error(answer.exceptionDetails.exception?.description)
    return answer.result.value
  }
  for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`)
  return {
    faults,
    evaluate,
    send,
    async goTo(url) {
      const loaded = happens('Page.loadEventFired')
      await send('Page.navigate', { url })
      await loaded
    },
    async until(expression, patienceMs) {
      try {
        await until(expression, () => evaluate<boolean>(`Boolean(${expression})`), patienceMs)
      } catch (error) {
        const shown = await evaluate<string>('document.body.innerText')
        throw new Error(`${(error as Error).message}; the page shows: ${shown}; its faults: ${faults.join('; ')}`)
      }
    },
    async press(key, modifiers = 0) {
      const code = places[key] ?? (key.length === 1 ? `Key${key.toUpperCase()}` : key)
      const windowsVirtualKeyCode = keyCodes[key] ?? key.toUpperCase().charCodeAt(0)
      const text = key === 'Enter' ? '\r' : key.length === 1 && modifiers === 0 ? key : undefined
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, code, windowsVirtualKeyCode, modifiers, text })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, code, windowsVirtualKeyCode, modifiers })
    },
    async type(text) {
      await send('Input.insertText', { text })
    },
    picture: async () => Buffer.from(String((await send('Page.captureScreenshot')).data), 'base64'),
    async [Symbol.asyncDispose]() {
      socket.close()
      child.kill('SIGKILL')
      await child.exited
      // Its other processes end after it, and write until then.
      await until('the end of all of the browser', () => Bun.spawnSync(['pgrep', '-f', profile]).exitCode === 1)
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Address at which the browser's debugger listens, as it says on its standard error. */
const debuggerAddress = async (stderr: ReadableStream<Uint8Array>): Promise<string> => {
  let text = ''
  const decoder = new TextDecoder()
  const reader = stderr.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the browser did not start: ${text}`)
    text += decoder.decode(value, { stream: true })
    const [, address] = /DevTools listening on ws:\/\/([^/]+)\//.exec(text) ?? []
    if (address === undefined) continue
    // What nobody reads would fill the pipe and halt the browser.
    void (async () => {
      while (!(await reader.read()).done);
    })()
    return address
  }
}

const pageOf = async (address: string): Promise<string> => {
  const targets = (await (await fetch(`http://${address}/json`)).json()) as {
    type: string
    webSocketDebuggerUrl: string
  }[]
  const page = targets.find(({ type }) => type === 'page')
  if (page === undefined) throw new Error('the browser has no page')
  return page.webSocketDebuggerUrl
}

const faultOf = ({ method, params }: Message): string | undefined => {
  if (method === 'Runtime.exceptionThrown') {
    const { exceptionDetails } = params as { exceptionDetails: { text: string; exception?: { description?: string } } }
    return exceptionDetails.exception?.description ?? exceptionDetails.text
  }
  if (method !== 'Log.entryAdded') return undefined
  const { entry } = params as { entry: { level: string; text: string; url?: string } }
  return entry.level === 'error' ? `${entry.text} ${entry.url ?? ''}` : undefined
}
