/** Signing in by the browser: the cloud sends the key to an address on this machine that lives as long as this takes. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { toHex } from '../base64.ts'
import { orAborted } from '../deadline.ts'
import { AuthenticationError, BacklotError, ConnectionError } from '../errors.ts'
import { page } from './login-page.ts'

/** What waits for the browser. */
interface Callback extends AsyncDisposable {
  /** Where the cloud sends the key. */
  readonly url: string
  /** The key, once it came. */
  readonly key: Promise<string>
  /** Shows the person how it ended. */
  answer(error?: unknown): Promise<void>
}

/** Milliseconds for which the browser may fetch the last page. */
const lastPageMs = 2_000

/** Signs in to a cloud: `open` shows an address to the person, `check` tells whether a key is good, `store` keeps it. */
export const signIn = async (
  baseUrl: string,
  signal: AbortSignal,
  {
    open,
    check,
    store,
  }: {
    open: (url: string) => unknown
    check: (key: string) => Promise<unknown>
    store: (key: string) => Promise<void>
  },
): Promise<void> => {
  await using callback = await listen()
  const address = `${baseUrl}/cli-auth?callback_url=${encodeURIComponent(callback.url)}`
  try {
    await orAborted(signal, Promise.resolve(open(address)))
    const key = await orAborted(signal, callback.key)
    await check(key)
    signal.throwIfAborted()
    await store(key)
  } catch (error) {
    await callback.answer(error)
    throw error
  }
  await callback.answer()
}

const listen = async (): Promise<Callback> => {
  const { createServer } = await import('node:http')
  // Only who saw the address that the person was sent to knows this word; it stands in the path, where no query disturbs it.
  const state = toHex(crypto.getRandomValues(new Uint8Array(16)))
  const key = deferred<string>()
  key.promise.catch(() => undefined)
  const ended = deferred<string>()
  const shown = deferred<void>()
  let origin = ''
  let wasCalled = false
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin)
    if (request.method !== 'GET' || `http://${request.headers.host}` !== origin)
      return send(response, 404, page.unknown)
    if (url.pathname === `/done/${state}`) {
      return void ended.promise.then((text) => {
        response.once('close', shown.resolve)
        send(response, 200, text)
      })
    }
    if (url.pathname !== `/callback/${state}`) return send(response, 404, page.unknown)
    wasCalled = true
    receive(url, key)
    // The address of the next page holds no key, so that none stays in the history of the browser.
    response.writeHead(303, { Location: `/done/${state}`, ...headers })
    response.end()
  })
  const port = await startListening(server)
  origin = `http://127.0.0.1:${port}`
  let wasAnswered = false
  return {
    url: `${origin}/callback/${state}`,
    key: key.promise,
    async answer(error) {
      if (wasAnswered) return
      wasAnswered = true
      ended.resolve(
        error === undefined ? page.done : page.failed(BacklotError.is(error) ? error.message : 'It was cancelled.'),
      )
      if (!wasCalled) return
      const timer = setTimeout(shown.resolve, lastPageMs)
      await shown.promise
      clearTimeout(timer)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** A promise that is settled from outside. */
interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

const deferred = <T>(): Deferred<T> => {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((settle, refuse) => {
    resolve = settle
    reject = refuse
  })
  return { promise, resolve, reject }
}

const receive = ({ searchParams }: URL, key: Deferred<string>): void => {
  const token = searchParams.get('token')
  if (token !== null && /^[\x21-\x7e]+$/.test(token)) key.resolve(token)
  // A promise that is kept already stays so.
  key.reject(
    searchParams.has('error')
      ? new AuthenticationError('unauthorized', 'The cloud did not sign you in. Try `login()` again.')
      : new ConnectionError('invalid_response', 'The cloud sent the browser back without a key. Try `login()` again.'),
  )
}

const startListening = (server: Server): Promise<number> =>
  new Promise((listening, failed) => {
    server.once('error', failed)
    server.listen(0, '127.0.0.1', () => listening((server.address() as { port: number }).port))
  })

const headers = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
} as const

const send = (response: ServerResponse<IncomingMessage>, status: number, text: string): void => {
  response.writeHead(status, { ...headers, 'Content-Type': 'text/html; charset=utf-8', Connection: 'close' })
  response.end(text)
}
