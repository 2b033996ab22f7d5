/** Commands over one WebSocket. */
import { fieldsOf } from '../../answer.ts'
import type { CallOptions, Fields } from '../../basics.ts'
import { orAborted, withDeadline } from '../../deadline.ts'
import { type Credentials, headersOf, rootOf, socketUrl } from '../address.ts'
import { HttpRoutes } from '../http-routes.ts'
import { disconnected } from '../loss.ts'
import { isRead, retrying } from '../retry.ts'
import { type Routes, routes } from '../routes.ts'
import { Transport } from '../transport.ts'
import { CommandConnection } from './connection.ts'
import { openWebSocket } from './web-socket.ts'

/**
 * One connection for all commands, many of which may be under way; the server answers them in order. It opens with the first
 * command, and again when it was closed while no answer was due. What streams goes by HTTP to the same server.
 */
export class WebSocketTransport extends Transport {
  readonly #routes: HttpRoutes
  readonly #url: string
  readonly #credentials: Credentials
  #connection: CommandConnection | undefined
  #opening: Promise<CommandConnection> | undefined
  #isClosed = false

  /** `url` is the server's address for commands, such as `ws://127.0.0.1:8000/ws`. Throws `invalid_argument`. */
  constructor(url: string, options: Credentials = {}) {
    super()
    const root = rootOf(url)
    this.#url = socketUrl(root, '/ws')
    this.#credentials = options
    this.#routes = new HttpRoutes(root, headersOf(options))
  }

  async connect(options?: CallOptions): Promise<void> {
    this.#isClosed = false
    await withDeadline(options, `Connecting to "${this.#url}"`, (signal) =>
      retrying(true, signal, () => orAborted(signal, this.#open())),
    )
  }

  async disconnect(): Promise<void> {
    this.#isClosed = true
    await this.closeTunnels()
    const opening = this.#opening
    this.#opening = undefined
    this.#connection?.close()
    this.#connection = undefined
    void opening?.then((connection) => connection.close()).catch(() => undefined)
  }

  protected request(action: string, params: Fields, options: CallOptions = {}): Promise<Fields> {
    const signal = options.signal ?? new AbortController().signal
    return retrying(isRead(action), signal, async () => {
      const connection = await orAborted(signal, this.#open())
      return connection.ask({ command: action, params }, signal)
    })
  }

  override get [routes](): Routes {
    return this.#routes
  }

  /** The connection to send on; callers that come meanwhile wait for the same one. */
  #open(): Promise<CommandConnection> {
    if (this.#isClosed) return Promise.reject(disconnected(this.#url))
    if (this.#connection?.isUsable) return Promise.resolve(this.#connection)
    if (this.#opening !== undefined) return this.#opening
    this.#connection?.retire()
    this.#connection = undefined
    const opening = this.#connect()
    this.#opening = opening
    opening.then(
      (connection) => {
        if (this.#opening !== opening) return
        this.#opening = undefined
        this.#connection = connection
      },
      () => {
        if (this.#opening === opening) this.#opening = undefined
      },
    )
    return opening
  }

  /** Opens one and shows the key in its first message, which browsers can send too. */
  async #connect(): Promise<CommandConnection> {
    return withDeadline({ timeoutMs: openingMs }, `Connecting to "${this.#url}"`, async (signal) => {
      const connection = new CommandConnection(this.#url)
      try {
        connection.attach(await openWebSocket(this.#url, {}, connection, signal))
      } catch (error) {
        throw await this.#routes.whyClosed('/ws', error, signal)
      }
      const { apiKey, containerName } = this.#credentials
      if (apiKey === undefined) return connection
      const params = { api_key: apiKey, ...(containerName !== undefined && { container_name: containerName }) }
      try {
        fieldsOf(await connection.ask({ command: 'authenticate', params }, signal))
      } catch (error) {
        connection.close()
        throw error
      }
      return connection
    })
  }
}

/** Milliseconds in which a connection opens, whoever waits for it. */
const openingMs = 30_000
