/** All that a server serves, by HTTP. */
import { errorOfBody, notOurs } from '../answer.ts'
import { BacklotError } from '../errors.ts'
import { socketUrl } from './address.ts'
import { requestError } from './loss.ts'
import type { RouteRequest, RouteSocket, Routes, SocketListener } from './routes.ts'
import { openWebSocket } from './websocket/web-socket.ts'

/** How requests are sent: `fetch`, or what does the same over another kind of socket. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The routes of the server at a root. */
export class HttpRoutes implements Routes {
  constructor(
    readonly url: string,
    readonly headers: Readonly<Record<string, string>>,
    private readonly send: Fetch = (url, init) => fetch(url, init),
  ) {}

  get name(): string {
    return this.url
  }

  async address() {
    return { url: this.url, headers: this.headers }
  }

  async fetch(path: string, request: RouteRequest): Promise<Response> {
    const url = this.url + path + queryOf(request.query)
    const { signal } = request
    let response: Response
    try {
      response = await this.send(url, this.#init(request))
      if (response.ok) return response
    } catch (error) {
      throw requestError(error, this.url, signal)
    }
    const body: unknown = await response.json().catch(() => undefined)
    signal.throwIfAborted()
    throw errorOfBody(response.status, body, this.url)
  }

  async open(path: string, listener: SocketListener, signal: AbortSignal): Promise<RouteSocket> {
    try {
      return await openWebSocket(socketUrl(this.url, path), this.headers, listener, signal)
    } catch (error) {
      throw await this.whyClosed(path, error, signal)
    }
  }

  /** Why a WebSocket was not opened: it does not say so itself, but the same route does without one. */
  async whyClosed(path: string, error: unknown, signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) return error
    const said: unknown = await this.fetch(path, { signal }).then(
      () => notOurs(this.url, 200),
      (why: unknown) => why,
    )
    return BacklotError.is(said) && said.data.serverCode === 'not_a_socket' ? error : said
  }

  #init({ method = 'GET', headers, json, body, signal }: RouteRequest): RequestInit {
    const init: RequestInit = { method, headers: { ...this.headers, ...headers }, signal }
    if (json !== undefined) {
      init.body = JSON.stringify(json)
      init.headers = { 'Content-Type': 'application/json', ...init.headers }
    } else if (body !== undefined) {
      init.body = body
      if (body instanceof ReadableStream) Object.assign(init, { duplex: 'half' })
    }
    return init
  }
}

const queryOf = (query: RouteRequest['query'] = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
