/** The VM host that commands talk to: where it is, its operations, and what it tells while long work is under way. */
import { type Client, type ClientOptions, httpClient } from '@backlot/contract/client'
import { codeOf, Failure } from '@backlot/contract/failure'
import { environment, vmHostPort, vmHostPrefixes } from '@backlot/contract/limits'
import { vmHost } from '@backlot/contract/vmhost'
import { eventsPath, HostEvent, type Operation } from '@backlot/contract/vmhost/operation'
import { Value } from '@sinclair/typebox/value'

/** Address of the service where nothing names another. */
export const usualUrl = `http://127.0.0.1:${vmHostPort}`

/** A service and how it is reached. */
export interface Service {
  readonly client: Client<typeof vmHost>
  readonly reach: ClientOptions
  /** Whether it runs on this machine, so that paths mean the same to both. */
  readonly isLocal: boolean
}

/** The service at `url` (`http://…` or `unix:PATH`), else at the one that the environment names, else the usual one. */
export const serviceAt = (url: string = process.env[environment.hostUrl] || usualUrl): Service => {
  const unix = url.startsWith('unix:') ? url.slice('unix:'.length) : undefined
  if (unix === undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new Failure('usage', `"${url}" is no address of a VM host; give http://HOST:PORT or unix:PATH.`)
  }
  const isLoopback = /^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(url)
  // A proxy of the environment cannot reach this machine's loopback, and would see the token.
  if (isLoopback) process.env.no_proxy = '*'
  const reach: ClientOptions = {
    baseUrl: `${unix === undefined ? url.replace(/\/+$/, '') : 'http://localhost'}${vmHostPrefixes[0]}`,
    shown: unix === undefined ? undefined : url,
    fetch: (address, init) => fetch(address, unix === undefined ? init : { ...init, unix }),
    token: process.env[environment.hostToken] || undefined,
  }
  return { client: httpClient(vmHost, reach), reach, isLocal: isLoopback || unix !== undefined }
}

const final: ReadonlySet<Operation['state']> = new Set(['done', 'failed', 'cancelled'])

/** Hears of operations while it lives; disposing of it ends the connection. */
export class Watch implements AsyncDisposable {
  readonly #stop = new AbortController()
  readonly #waiting = new Set<() => void>()
  #isOver = false
  #reading: Promise<void> = Promise.resolve()

  private constructor(
    readonly service: Service,
    readonly hear: (operation: Operation) => void,
  ) {}

  /** Begins to listen; `hear` gets every operation that changes from now on. */
  static async open(service: Service, hear: (operation: Operation) => void): Promise<Watch> {
    const watch = new Watch(service, hear)
    const { baseUrl, token } = service.reach
    const response = await service.reach
      .fetch(`${baseUrl}${eventsPath}`, {
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
        signal: watch.#stop.signal,
      })
      .catch(() => undefined)
    // Without events the work is done all the same; only nothing is told meanwhile.
    if (response?.ok && response.body !== null) watch.#reading = watch.#read(response.body)
    else watch.#isOver = true
    return watch
  }

  /** Waits until an operation is final. Throws its cause where it failed, and `cancelled` where it was. */
  async finished(id: string): Promise<void> {
    for (;;) {
      const changed = new Promise<void>((settle) => this.#waiting.add(settle))
      const operation = await this.service.client.getOperation({ id })
      this.hear(operation)
      if (final.has(operation.state)) return settleWith(operation)
      // An event may be lost with its connection: look again now and then.
      await Promise.race([changed, Bun.sleep(this.#isOver ? 250 : 5_000)])
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const part of body) {
        const frames = (rest + decoder.decode(part, { stream: true })).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) this.#take(frame)
      }
    } catch {
      // The connection ended, by us or with the service.
    }
    this.#isOver = true
    this.#wake()
  }

  #take(frame: string): void {
    const [, text] = /^data: (.*)$/m.exec(frame) ?? []
    if (text === undefined) return
    const event: unknown = JSON.parse(text)
    if (!Value.Check(HostEvent, event)) return
    if (event.type === 'operation') this.hear(event.operation)
    this.#wake()
  }

  #wake(): void {
    for (const settle of this.#waiting) settle()
    this.#waiting.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#reading
  }
}

const settleWith = ({ state, cause, kind, name, messages }: Operation): void => {
  if (state === 'done') return
  if (state === 'cancelled') throw new Failure('cancelled', `"${kind}" of the VM "${name}" was cancelled.`)
  const { code, message } = cause ?? { code: 'internal', message: `"${kind}" of the VM "${name}" failed.` }
  throw new Failure(codeOf(code), [message, ...messages.slice(-5).map((line) => `  ${line}`)].join('\n'))
}
