/** The browsers that are debugged: one connection for each process, which ends a while after its last use. */
import { openFirefox } from './bidi.ts'
import { openChromium } from './cdp.ts'
import { debugServerOf } from './debug-port.ts'
import type { WebBrowser } from './web-page.ts'

interface Connection {
  readonly browser: Promise<WebBrowser | undefined>
  users: number
  leaving?: NodeJS.Timeout
}

/** Connections by process id. */
export class Browsers {
  readonly #connections = new Map<number, Connection>()

  /**
   * Works with the browser of that process, `undefined` where it listens for no debugger. Throws what a `BrowserSocket` throws,
   * and what the work throws.
   */
  async with<T>(pid: number, work: (browser: WebBrowser | undefined) => Promise<T>): Promise<T> {
    const connection = await this.#connect(pid)
    connection.users += 1
    clearTimeout(connection.leaving)
    try {
      return await work(await connection.browser)
    } finally {
      connection.users -= 1
      await this.#leave(pid, connection)
    }
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const connections = [...this.#connections.values()]
    this.#connections.clear()
    await Promise.all(connections.map(end))
  }

  async #connect(pid: number): Promise<Connection> {
    const known = this.#connections.get(pid)
    if (known !== undefined) {
      const browser = await known.browser.catch(() => undefined)
      if (browser?.isOpen) return known
      if (this.#connections.get(pid) === known) this.#connections.delete(pid)
      // Another call may have connected meanwhile.
      if (this.#connections.has(pid)) return this.#connect(pid)
    }
    const connection = { browser: open(pid), users: 0 }
    connection.browser.catch(() => undefined)
    this.#connections.set(pid, connection)
    return connection
  }

  async #leave(pid: number, connection: Connection): Promise<void> {
    const browser = await connection.browser.catch(() => undefined)
    if (connection.users > 0) return
    clearTimeout(connection.leaving)
    connection.leaving = setTimeout(() => {
      if (connection.users > 0) return
      if (this.#connections.get(pid) === connection) this.#connections.delete(pid)
      end(connection).catch(() => undefined)
    }, browser?.lingerMs ?? 0)
    connection.leaving.unref()
  }
}

const open = async (pid: number): Promise<WebBrowser | undefined> => {
  const server = await debugServerOf(pid)
  if (server === undefined) return undefined
  return server.protocol === 'cdp' ? openChromium(server.url) : openFirefox(server.url)
}

const end = async ({ browser, leaving }: Connection): Promise<void> => {
  clearTimeout(leaving)
  await (await browser.catch(() => undefined))?.[Symbol.asyncDispose]()
}
