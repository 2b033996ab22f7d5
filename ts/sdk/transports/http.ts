/** Commands by `POST /cmd`. */
import type { CallOptions, Fields } from '../basics.ts'
import { timeoutOf, withDeadline } from '../deadline.ts'
import { type Credentials, headersOf, rootOf } from './address.ts'
import { postCommand } from './frame.ts'
import { HttpRoutes } from './http-routes.ts'
import { disconnected } from './loss.ts'
import { isRead, retrying } from './retry.ts'
import { type Routes, routes } from './routes.ts'
import { checkAccess } from './status.ts'
import { Transport } from './transport.ts'

/** How an HTTP transport calls. */
export interface HTTPTransportOptions extends Credentials {
  /** Milliseconds that a command may take where its caller says nothing. @default 30_000 */
  timeoutMs?: number
}

/**
 * `POST /cmd` for each command. It holds no connection: `connect` asks whether a computer server answers
 * and lets this caller in, and is not required.
 */
export class HTTPTransport extends Transport {
  readonly #routes: Routes
  readonly #url: string
  readonly #timeoutMs: number
  #isClosed = false

  /** `baseUrl` is the server's root, such as `http://127.0.0.1:8000`. Throws `invalid_argument`. */
  constructor(baseUrl: string, options: HTTPTransportOptions = {}) {
    super()
    this.#url = rootOf(baseUrl)
    this.#timeoutMs = timeoutOf(options)
    this.#routes = new HttpRoutes(this.#url, headersOf(options))
  }

  protected override get usualTimeoutMs(): number {
    return this.#timeoutMs
  }

  async connect(options?: CallOptions): Promise<void> {
    this.#isClosed = false
    await withDeadline(
      options,
      `Connecting to "${this.#url}"`,
      (signal) => checkAccess(this.#routes, this.#url, signal),
      this.#timeoutMs,
    )
  }

  async disconnect(): Promise<void> {
    this.#isClosed = true
    await this.closeTunnels()
  }

  protected async request(action: string, params: Fields, options: CallOptions = {}): Promise<Fields> {
    if (this.#isClosed) throw disconnected(this.#url)
    const signal = options.signal ?? new AbortController().signal
    return retrying(isRead(action), signal, () => postCommand(this.#routes, this.#url, action, params, signal))
  }

  override get [routes](): Routes {
    return this.#routes
  }
}
