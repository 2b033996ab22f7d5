/** The way from a browser to the screen of a sandbox, whose server asks for a key that the browser does not get. */
import { screens } from '@backlot/contract/limits'
import type { SocketHandler, UpgradeWebSocket } from '@backlot/serve'

/** A WebSocket that carries VNC (RFB, RFC 6143) in binary messages, and the headers that open it. */
export interface RelayedScreen {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Makes a WebSocket of a request, joined with the screen; false where the request asks for none. */
export const relayScreen = (join: UpgradeWebSocket, request: Request, screen: RelayedScreen): boolean =>
  join(request, relayHandler(screen), ['binary'])

/** A screen that is not reached within so many milliseconds is told to be missing. */
const reachedWithinMs = 10_000

/** What is done with the WebSocket of one browser; either side that takes nothing more ends it. */
const relayHandler = ({ url, headers }: RelayedScreen): SocketHandler => {
  let server: WebSocket | undefined
  /** What the browser sent before the screen was reached. */
  const waiting: Buffer[] = []
  let waitingBytes = 0
  return {
    open(browser) {
      const breakOff = (reason: string): void => {
        if (browser.readyState === WebSocket.OPEN) browser.close(1011, reason)
      }
      const reached = new WebSocket(url, { headers, protocols: ['binary'] })
      const late = setTimeout(() => {
        breakOff('the screen cannot be reached')
        reached.close()
      }, reachedWithinMs)
      reached.binaryType = 'arraybuffer'
      reached.addEventListener('open', () => {
        clearTimeout(late)
        for (const part of waiting.splice(0)) reached.send(part)
      })
      reached.addEventListener('message', ({ data }) => {
        // What the server says in text is for its own page.
        if (typeof data === 'string') return
        browser.sendBinary(new Uint8Array(data as ArrayBuffer))
        if (browser.getBufferedAmount() > 4 * screens.mostWaitingBytes)
          breakOff('the browser takes no more of the screen')
      })
      reached.addEventListener('close', () => {
        clearTimeout(late)
        breakOff('the screen went away')
      })
      reached.addEventListener('error', () => breakOff('the screen cannot be reached'))
      server = reached
    },
    message(browser, message) {
      // Text would ask the server to let this browser act.
      if (server === undefined || typeof message === 'string') return
      if (server.readyState === WebSocket.OPEN) server.send(message)
      else {
        waiting.push(Buffer.from(message))
        waitingBytes += message.byteLength
      }
      if (waitingBytes + server.bufferedAmount > screens.mostWaitingBytes) {
        browser.close(1011, 'the screen takes no more input')
      }
    },
    close: () => server?.close(),
  }
}
