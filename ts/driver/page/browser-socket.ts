/** Commands over a browser's WebSocket; the Chrome DevTools Protocol and WebDriver BiDi number them alike. */

/** What a message or an answer holds; nothing in it is trusted. */
export type Facts = Readonly<Record<string, unknown>>

/** The browser's own refusal of a command. */
export class BrowserRefused extends Error {
  override readonly name = 'BrowserRefused'

  /** `kind` is the error code of WebDriver BiDi, empty in the Chrome DevTools Protocol. */
  constructor(
    readonly kind: string,
    message: string,
  ) {
    super(message)
  }
}

/** No answer came in the time that was given. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** The connection is closed. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

interface Waiting {
  resolve(result: Facts): void
  reject(error: Error): void
}

/** One open connection. */
export class BrowserSocket implements Disposable {
  readonly #waiting = new Map<number, Waiting>()
  readonly #listeners = new Set<(method: string, params: Facts, sessionId: unknown) => void>()
  #last = 0

  private constructor(private readonly socket: WebSocket) {
    socket.onmessage = ({ data }) => this.#receive(String(data))
    socket.onclose = () => this.#end()
  }

  /** Connects; throws `NoAnswer` or `ConnectionLost`. */
  static async open(url: string, timeoutMs: number): Promise<BrowserSocket> {
    const socket = new WebSocket(url)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new NoAnswer(`"${url}" does not answer`)), timeoutMs)
    socket.onopen = () => resolve()
    socket.onerror = () => reject(new ConnectionLost(`"${url}" refuses the connection`))
    try {
      await promise
    } catch (error) {
      socket.close()
      throw error
    } finally {
      clearTimeout(timer)
    }
    socket.onerror = null
    return new BrowserSocket(socket)
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN
  }

  /** Calls `hear` for every event until the connection ends. */
  listen(hear: (method: string, params: Facts, sessionId: unknown) => void): void {
    this.#listeners.add(hear)
  }

  /** Sends a command; throws `BrowserRefused`, `NoAnswer` or `ConnectionLost`. */
  async send(method: string, params: object, timeoutMs: number, sessionId?: string): Promise<Facts> {
    if (!this.isOpen) throw new ConnectionLost('the connection to the browser is closed')
    this.#last += 1
    const id = this.#last
    const { promise, resolve, reject } = Promise.withResolvers<Facts>()
    this.#waiting.set(id, { resolve, reject })
    const timer = setTimeout(() => reject(new NoAnswer(`${method} got no answer in ${timeoutMs} ms`)), timeoutMs)
    try {
      this.socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }))
      return await promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  /** Closes the connection; closing twice is fine. */
  [Symbol.dispose](): void {
    this.socket.close()
    this.#end()
  }

  #receive(text: string): void {
    const { id, method, params, result, error, message, sessionId } = parsed(text)
    if (typeof id !== 'number') {
      if (typeof method === 'string') for (const hear of this.#listeners) hear(method, asFacts(params), sessionId)
      return
    }
    const waiting = this.#waiting.get(id)
    if (error === undefined) waiting?.resolve(asFacts(result))
    else if (typeof error === 'string') waiting?.reject(new BrowserRefused(error, String(message)))
    else waiting?.reject(new BrowserRefused('', String(asFacts(error).message)))
  }

  #end(): void {
    for (const { reject } of this.#waiting.values()) reject(new ConnectionLost('the browser closed the connection'))
    this.#waiting.clear()
  }
}

const parsed = (text: string): Facts => {
  try {
    return asFacts(JSON.parse(text))
  } catch {
    return {}
  }
}

/** A record out of anything: an empty one where it is none. */
export const asFacts = (value: unknown): Facts =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Facts) : {}

/** A list of records out of anything. */
export const asList = (value: unknown): readonly Facts[] => (Array.isArray(value) ? value.map(asFacts) : [])

/** A text out of anything: empty where it is none. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')
