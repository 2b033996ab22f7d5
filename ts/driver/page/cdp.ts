/** Pages of Chromium, its relatives and Electron, through the Chrome DevTools Protocol (tot, protocol version 1.3). */
import { page as limits } from '@backlot/contract/limits'
import { asFacts, asList, asText, BrowserRefused, BrowserSocket, type Facts, NoAnswer } from './browser-socket.ts'
import describe from './scripts/describe.page.js' with { type: 'text' }
import type { ScriptResult, Tab, WebBrowser, WebPage } from './web-page.ts'

/** Connects to the browser's own WebSocket. */
export const openChromium = async (url: string): Promise<WebBrowser> => {
  const socket = await BrowserSocket.open(url, limits.discoveryMs)
  const pages = new Map<string, Promise<CdpPage>>()
  return {
    route: 'cdp',
    lingerMs: limits.lingerMs.cdp,
    get isOpen() {
      return socket.isOpen
    },
    async tabs() {
      const { targetInfos } = await socket.send('Target.getTargets', {}, limits.commandMs)
      const targets = asList(targetInfos).filter(({ type }) => type === 'page' || type === 'webview')
      return Promise.all(targets.map((target) => tabOf(socket, target)))
    },
    page({ id }) {
      const known = pages.get(id)
      if (known !== undefined) return known
      const attached = CdpPage.attach(socket, id, () => pages.delete(id))
      pages.set(id, attached)
      attached.catch(() => pages.delete(id))
      return attached
    },
    async [Symbol.asyncDispose]() {
      socket[Symbol.dispose]()
    },
  }
}

const tabOf = async (socket: BrowserSocket, { targetId, title, url }: Facts): Promise<Tab> => {
  // Programs with Chromium inside need not know windows.
  const window = socket.send('Browser.getWindowForTarget', { targetId }, limits.commandMs).catch((): Facts => ({}))
  const { windowId, bounds } = await window
  const { left, top, width, height } = asFacts(bounds)
  const isPlaced = [left, top, width, height].every((side) => typeof side === 'number')
  return {
    id: asText(targetId),
    title: asText(title),
    url: asText(url),
    window: String(windowId ?? ''),
    bounds: isPlaced ? { x: Number(left), y: Number(top), width: Number(width), height: Number(height) } : undefined,
  }
}

class CdpPage implements WebPage {
  readonly route = 'cdp'
  dialog: WebPage['dialog']
  isAwake = false
  #world: Promise<unknown> | undefined

  private constructor(
    private readonly socket: BrowserSocket,
    private readonly sessionId: string,
  ) {}

  static async attach(socket: BrowserSocket, targetId: string, detached: () => void): Promise<CdpPage> {
    const attached = await socket.send('Target.attachToTarget', { targetId, flatten: true }, limits.commandMs)
    const page = new CdpPage(socket, asText(attached.sessionId))
    socket.listen((method, params, sessionId) => {
      if (method === 'Target.detachedFromTarget' && params.sessionId === page.sessionId) detached()
      if (sessionId === page.sessionId) page.#hear(method, params)
    })
    // Without it no dialog is reported; with it the person still sees every one. A page that hangs answers it later.
    page.#send('Page.enable', {}, limits.commandMs).catch(() => undefined)
    return page
  }

  #hear(method: string, { type, message, frame }: Facts): void {
    if (method === 'Page.javascriptDialogOpening') this.dialog = { type: asText(type), message: asText(message) }
    if (method === 'Page.javascriptDialogClosed') this.dialog = undefined
    if (method === 'Page.frameNavigated' && asFacts(frame).parentId === undefined) {
      this.#world = undefined
      this.dialog = undefined
    }
  }

  #send(method: string, params: object, timeoutMs: number): Promise<Facts> {
    return this.socket.send(method, params, timeoutMs, this.sessionId)
  }

  wake(): void {
    if (this.isAwake) return
    this.isAwake = true
    this.#send('Emulation.setFocusEmulationEnabled', { enabled: true }, limits.commandMs).catch(() => {
      this.isAwake = false
    })
  }

  async callFunction(functionSource: string, argument: string, timeoutMs: number): Promise<string> {
    this.#world ??= this.#makeWorld(timeoutMs)
    const world = this.#world
    try {
      const called = await this.#send(
        'Runtime.callFunctionOn',
        {
          functionDeclaration: functionSource,
          executionContextId: await world,
          arguments: [{ value: argument }],
          returnByValue: true,
          awaitPromise: true,
        },
        timeoutMs,
      )
      const { exceptionDetails, result } = called
      if (exceptionDetails !== undefined) throw new BrowserRefused('', thrownBy(exceptionDetails).thrown)
      return asText(asFacts(result).value)
    } catch (error) {
      if (this.#world === world) this.#world = undefined
      throw error
    }
  }

  async #makeWorld(timeoutMs: number): Promise<unknown> {
    const { frameTree } = await this.#send('Page.getFrameTree', {}, timeoutMs)
    const frameId = asFacts(asFacts(frameTree).frame).id
    const world = await this.#send('Page.createIsolatedWorld', { frameId, worldName: 'backlot' }, timeoutMs)
    return world.executionContextId
  }

  async run(script: string, timeoutMs: number): Promise<ScriptResult> {
    const deadline = performance.now() + timeoutMs
    const remaining = () => Math.max(1, Math.ceil(deadline - performance.now()))
    try {
      let ran = await this.#send(
        'Runtime.evaluate',
        { expression: script, replMode: true, awaitPromise: true, timeout: timeoutMs, objectGroup: group },
        // The browser itself ends a script that runs too long, and says so.
        timeoutMs + limits.graceMs,
      )
      const { subtype, objectId } = asFacts(ran.result)
      if (ran.exceptionDetails === undefined && subtype === 'promise') {
        ran = await this.#send('Runtime.awaitPromise', { promiseObjectId: objectId }, remaining())
      }
      if (ran.exceptionDetails !== undefined) return thrownBy(ran.exceptionDetails)
      return { value: await this.#describe(asFacts(ran.result), remaining()) }
    } catch (error) {
      // How it says that it ended a script depends on where the script was.
      if (error instanceof BrowserRefused && performance.now() >= deadline) throw new NoAnswer(error.message)
      throw error
    } finally {
      this.#send('Runtime.releaseObjectGroup', { objectGroup: group }, limits.commandMs).catch(() => undefined)
    }
  }

  async #describe(result: Facts, timeoutMs: number): Promise<string> {
    const { type, objectId, value, unserializableValue } = result
    // Only what JSON has no word for is a text here: NaN, -0, an integer of any size.
    if (unserializableValue !== undefined) return JSON.stringify({ type, value: unserializableValue, is_json: false })
    if (type === 'undefined') return JSON.stringify({ type, value: 'undefined', is_json: false })
    if (objectId === undefined) return JSON.stringify({ type: value === null ? 'null' : type, value, is_json: true })
    const described = await this.#send(
      'Runtime.callFunctionOn',
      { functionDeclaration: `function () { return (${describe})(this) }`, objectId, returnByValue: true },
      timeoutMs,
    )
    return asText(asFacts(described.result).value)
  }

  async halt(): Promise<boolean> {
    await this.#send('Runtime.terminateExecution', {}, limits.commandMs)
    return true
  }

  async move(x: number, y: number, timeoutMs: number): Promise<void> {
    await this.#send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y }, timeoutMs)
  }
}

/** Objects of one script, which the browser keeps until the group is released. */
const group = 'backlot'

const thrownBy = (details: unknown): { thrown: string } => {
  const { text, exception } = asFacts(details)
  const { description, value, type } = asFacts(exception)
  const said = asText(description) || (value === undefined ? asText(text) : JSON.stringify(value))
  return { thrown: said || asText(type) }
}
