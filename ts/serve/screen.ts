/** The way from a browser to a screen: a WebSocket whose bytes go to a VNC server (RFB, RFC 6143) and back. */
import { screens } from '@backlot/contract/limits'
import type { SocketHandler, UpgradeWebSocket, WebSocketOfServer } from './sockets/web-sockets.ts'

/** Where a VNC server listens. */
export type ScreenAddress = { readonly hostname: string; readonly port: number } | { readonly unix: string }

/** Makes a WebSocket of a request, joined with the screen; false where the request asks for none. */
export const joinScreen = (join: UpgradeWebSocket, request: Request, address: ScreenAddress): boolean =>
  // Some VNC clients name a protocol.
  join(request, screenHandler(address), ['binary'])

/** Closes the WebSocket with a reason that a browser shows its page (RFC 6455, 7.4.1). */
const breakOff = (browser: WebSocketOfServer, reason: string): void => browser.close(1011, reason)

/** What is done with the WebSocket of one screen; neither side is read faster than the other takes it. */
export const screenHandler = (address: ScreenAddress): SocketHandler => {
  let server: Bun.Socket<unknown> | undefined
  /** What the browser sent and the screen has not taken yet. */
  const waiting: Uint8Array[] = []
  const flush = (): void => {
    while (server !== undefined) {
      const part = waiting.shift()
      if (part === undefined) return
      const taken = server.write(part)
      if (taken === part.byteLength) continue
      waiting.unshift(part.subarray(Math.max(0, taken)))
      return
    }
  }
  return {
    async open(browser) {
      const socket: Bun.SocketHandler<unknown> = {
        data: (from, bytes) => {
          if (browser.sendBinary(bytes) === -1) from.pause()
        },
        drain: flush,
        close: () => browser.close(),
        error: (_, error) => breakOff(browser, error.message.slice(0, 100)),
      }
      try {
        server = await ('unix' in address
          ? Bun.connect({ unix: address.unix, socket })
          : Bun.connect({ hostname: address.hostname, port: address.port, socket }))
      } catch {
        breakOff(browser, 'the screen cannot be reached')
        return
      }
      if (browser.readyState === WebSocket.OPEN) flush()
      else server?.end()
    },
    message(browser, message) {
      waiting.push(typeof message === 'string' ? new TextEncoder().encode(message) : new Uint8Array(message))
      flush()
      const length = waiting.reduce((sum, part) => sum + part.byteLength, 0)
      if (length > screens.mostWaitingBytes) breakOff(browser, 'the screen takes no more input')
    },
    drain: () => void server?.resume(),
    close: () => void server?.end(),
  }
}
