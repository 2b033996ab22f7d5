/** Pages of Firefox, through WebDriver BiDi (https://w3c.github.io/webdriver-bidi/, Working Draft). */
import { page as limits } from '@backlot/contract/limits'
import { asFacts, asList, asText, BrowserRefused, BrowserSocket, type Facts, NoAnswer } from './browser-socket.ts'
import describe from './scripts/describe.page.js' with { type: 'text' }
import type { ScriptResult, Tab, WebBrowser, WebPage } from './web-page.ts'

/**
 * Connects and begins a session; throws `BrowserRefused` with kind `session not created` where another client has one: Firefox
 * has room for one, and keeps it when its connection breaks. So ours ends soon after its last use.
 */
export const openFirefox = async (url: string): Promise<WebBrowser> => {
  const socket = await BrowserSocket.open(url, limits.discoveryMs)
  const dialogs = new Map<string, NonNullable<WebPage['dialog']>>()
  await begin(socket)
  socket.listen((method, { context, type, message }) => {
    const dialog = { type: asText(type), message: asText(message) }
    if (method === 'browsingContext.userPromptOpened') dialogs.set(asText(context), dialog)
    if (method === 'browsingContext.userPromptClosed') dialogs.delete(asText(context))
  })
  const events = ['browsingContext.userPromptOpened', 'browsingContext.userPromptClosed']
  try {
    await socket.send('session.subscribe', { events }, limits.commandMs)
  } catch (error) {
    // Firefox has room for one session, and this one would be in nobody's hands.
    await socket.send('session.end', {}, limits.commandMs).catch(() => undefined)
    socket[Symbol.dispose]()
    throw error
  }
  return {
    route: 'webdriver_bidi',
    lingerMs: limits.lingerMs.webdriver_bidi,
    get isOpen() {
      return socket.isOpen
    },
    async tabs() {
      const [tree, windows] = await Promise.all([
        socket.send('browsingContext.getTree', { maxDepth: 0 }, limits.commandMs),
        socket.send('browser.getClientWindows', {}, limits.commandMs).catch((): Facts => ({})),
      ])
      const placed = asList(windows.clientWindows)
      return Promise.all(
        asList(tree.contexts).map(async ({ context, url, clientWindow }): Promise<Tab> => {
          const page = new BiDiPage(socket, asText(context), dialogs)
          const title = await page.callFunction('() => document.title', '', limits.backgroundMs).catch(() => '')
          const window = asText(clientWindow)
          return { id: asText(context), title, url: asText(url), window, bounds: boundsOf(placed, clientWindow) }
        }),
      )
    },
    async page({ id }) {
      return new BiDiPage(socket, id, dialogs)
    },
    async [Symbol.asyncDispose]() {
      await socket.send('session.end', {}, limits.commandMs).catch(() => undefined)
      socket[Symbol.dispose]()
    },
  }
}

/** Begins the session; one that begins after we stopped waiting is ended at once, for it would keep all others out. */
const begin = async (socket: BrowserSocket): Promise<void> => {
  // Dialogs stay the person's.
  const capabilities = { alwaysMatch: { unhandledPromptBehavior: { default: 'ignore' } } }
  const begun = socket.send('session.new', { capabilities }, limits.sessionMs.latest)
  const tooLate = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    tooLate.reject(new NoAnswer(`session.new got no answer in ${limits.sessionMs.usual} ms`))
    const close = () => socket[Symbol.dispose]()
    begun.then(() => socket.send('session.end', {}, limits.commandMs)).then(close, close)
  }, limits.sessionMs.usual)
  try {
    await Promise.race([begun, tooLate.promise])
  } catch (error) {
    if (error instanceof BrowserRefused) socket[Symbol.dispose]()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const boundsOf = (windows: readonly Facts[], clientWindow: unknown): Tab['bounds'] => {
  const { x, y, width, height } = windows.find((window) => window.clientWindow === clientWindow) ?? {}
  const isPlaced = [x, y, width, height].every((side) => typeof side === 'number')
  return isPlaced ? { x: Number(x), y: Number(y), width: Number(width), height: Number(height) } : undefined
}

class BiDiPage implements WebPage {
  readonly route = 'webdriver_bidi'
  readonly isAwake = false

  constructor(
    private readonly socket: BrowserSocket,
    private readonly context: string,
    private readonly dialogs: ReadonlyMap<string, NonNullable<WebPage['dialog']>>,
  ) {}

  get dialog(): WebPage['dialog'] {
    return this.dialogs.get(this.context)
  }

  wake(): void {
    // Firefox does not let covered pages sleep.
  }

  async callFunction(functionSource: string, argument: string, timeoutMs: number): Promise<string> {
    const called = await this.socket.send(
      'script.callFunction',
      {
        functionDeclaration: functionSource,
        arguments: [{ type: 'string', value: argument }],
        target: { context: this.context, sandbox: 'backlot' },
        awaitPromise: true,
      },
      timeoutMs,
    )
    if (called.type === 'exception') throw new BrowserRefused('', thrownBy(called.exceptionDetails).thrown)
    return asText(asFacts(called.result).value)
  }

  async run(script: string, timeoutMs: number): Promise<ScriptResult> {
    const deadline = performance.now() + timeoutMs
    const remaining = () => Math.max(1, Math.ceil(deadline - performance.now()))
    const evaluated = await this.socket.send(
      'script.evaluate',
      {
        expression: script,
        target: { context: this.context },
        awaitPromise: true,
        resultOwnership: 'root',
        serializationOptions: { maxObjectDepth: 0, maxDomDepth: 0 },
      },
      timeoutMs,
    )
    if (evaluated.type === 'exception') return thrownBy(evaluated.exceptionDetails)
    const { type, value, handle } = asFacts(evaluated.result)
    if (type === 'undefined') return { value: JSON.stringify({ type, value: 'undefined', is_json: false }) }
    if (handle === undefined) {
      // A number that JSON has no word for comes as a text, and so does an integer of any size.
      const is_json = type !== 'bigint' && !(type === 'number' && typeof value === 'string')
      const said = type === 'null' ? null : type === 'bigint' ? `${value}n` : value
      return { value: JSON.stringify({ type, value: said, is_json }) }
    }
    try {
      const described = await this.socket.send(
        'script.callFunction',
        {
          functionDeclaration: describe,
          arguments: [{ handle }],
          target: { context: this.context },
          awaitPromise: false,
        },
        remaining(),
      )
      return { value: asText(asFacts(described.result).value) }
    } finally {
      const disowned = { handles: [handle], target: { context: this.context } }
      this.socket.send('script.disown', disowned, limits.commandMs).catch(() => undefined)
    }
  }

  async halt(): Promise<boolean> {
    return false
  }

  move(x: number, y: number, timeoutMs: number): Promise<void> {
    return this.#perform(pointer([pointerTo(x, y)]), timeoutMs)
  }

  press(x: number, y: number, timeoutMs: number): Promise<void> {
    const presses = ['pointerDown', 'pointerUp'].map((type) => ({ type, button: 0 }))
    return this.#perform(pointer([pointerTo(x, y), ...presses]), timeoutMs)
  }

  async #perform(source: object, timeoutMs: number): Promise<void> {
    await this.socket.send('input.performActions', { context: this.context, actions: [source] }, timeoutMs)
  }
}

const whole = (x: number, y: number) => ({ x: Math.floor(x), y: Math.floor(y) })

const pointerTo = (x: number, y: number) => ({ type: 'pointerMove', ...whole(x, y), origin: 'viewport' })

const pointer = (actions: readonly object[]) => ({ type: 'pointer', id: 'mouse', actions })

const thrownBy = (details: unknown): { thrown: string } => {
  const { text, stackTrace } = asFacts(details)
  const said = asText(text)
  const lines = asList(asFacts(stackTrace).callFrames).map(
    ({ functionName, url, lineNumber, columnNumber }) =>
      `    at ${asText(functionName) || '<anonymous>'} (${asText(url)}:${Number(lineNumber) + 1}:${Number(columnNumber) + 1})`,
  )
  return { thrown: [said, ...lines].join('\n') }
}
