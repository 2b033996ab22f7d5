/** The way from a browser to the screen of a VM: a WebSocket whose bytes go to its VNC port and back. */
import { Failure } from '@backlot/contract/failure'
import { screens } from '@backlot/contract/limits'
import type { Vm } from '@backlot/contract/vmhost/vm'

/** What one connection holds. */
export interface ScreenLink {
  readonly hostname: string
  readonly port: number
  server?: Bun.Socket
  /** What the browser sent and the screen has not taken yet. */
  waiting: Uint8Array[]
}

/** Where the screen of a VM is reached; throws `no_screen` where it has none now. */
export const screenOf = ({ name, status, vncUrl }: Vm): ScreenLink => {
  const [, hostname, port] = /^vnc:\/\/[^@]*@(.+):(\d+)$/.exec(vncUrl ?? '') ?? []
  if (hostname !== undefined && port !== undefined) return { hostname, port: Number(port), waiting: [] }
  const why = status === 'running' ? 'it runs without a display' : `it is ${status}`
  throw new Failure('no_screen', `The VM "${name}" has no screen: ${why}. Run it with its display.`, { name })
}

/** Makes a WebSocket of a request, joined with a screen; false where the request asks for none. */
export type JoinScreen = (request: Request, screen: ScreenLink) => boolean

/** Joins screens by the WebSockets of a server. */
export const joinScreens =
  (server: Bun.Server<ScreenLink>): JoinScreen =>
  (request, data) =>
    request.headers.get('upgrade')?.toLowerCase() === 'websocket' &&
    server.upgrade(request, { data, headers: protocolOf(request.headers) })

/** Some VNC clients name a protocol, and a browser wants it named back. */
const protocolOf = (headers: Headers): Record<string, string> => {
  const names = headers.get('sec-websocket-protocol')?.split(',') ?? []
  return names.some((name) => name.trim() === 'binary') ? { 'Sec-WebSocket-Protocol': 'binary' } : {}
}

type Browser = Bun.ServerWebSocket<ScreenLink>

/** Closes the WebSocket with a reason that a browser shows its page (RFC 6455, 7.4.1). */
const breakOff = (browser: Browser, reason: string): void => browser.close(1011, reason)

const flush = (browser: Browser): void => {
  const { server, waiting } = browser.data
  while (server !== undefined) {
    const part = waiting.shift()
    if (part === undefined) return
    const taken = server.write(part)
    if (taken === part.byteLength) continue
    waiting.unshift(part.subarray(Math.max(0, taken)))
    return
  }
}

/** What `Bun.serve` does with the WebSockets of screens; neither side is read faster than the other takes it. */
export const screenSockets: Bun.WebSocketHandler<ScreenLink> = {
  maxPayloadLength: screens.mostWaitingBytes,
  async open(browser) {
    const { hostname, port } = browser.data
    try {
      browser.data.server = await Bun.connect({
        hostname,
        port,
        socket: {
          data: (server, bytes) => {
            if (browser.sendBinary(bytes) === -1) server.pause()
          },
          drain: () => flush(browser),
          close: () => browser.close(),
          error: (_, error) => breakOff(browser, error.message.slice(0, 100)),
        },
      })
    } catch {
      breakOff(browser, 'the screen cannot be reached')
      return
    }
    if (browser.readyState === WebSocket.OPEN) flush(browser)
    else browser.data.server.end()
  },
  message(browser, message) {
    const { waiting } = browser.data
    waiting.push(typeof message === 'string' ? new TextEncoder().encode(message) : new Uint8Array(message))
    flush(browser)
    const length = waiting.reduce((sum, part) => sum + part.byteLength, 0)
    if (length > screens.mostWaitingBytes) breakOff(browser, 'the screen takes no more input')
  },
  drain: (browser) => void browser.data.server?.resume(),
  close: (browser) => void browser.data.server?.end(),
}
