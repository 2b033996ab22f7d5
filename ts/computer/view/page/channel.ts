/** The WebSocket of the view as noVNC wants one, with the messages of the page kept apart from those of the screen. */

/** The address of a WebSocket of this server's. */
export const socketAddress = (path: string): string =>
  Object.assign(new URL(path, location.href), { protocol: location.protocol === 'https:' ? 'wss:' : 'ws:' }).href

/** What the server tells of who acts. */
export interface Control {
  /** This page acts. */
  readonly mine: boolean
  /** Some page acts. */
  readonly taken: boolean
}

/** A channel for noVNC: binary messages are the screen's, text is for the page. */
export class ViewChannel {
  readonly #socket: WebSocket
  onopen: (() => void) | null = null
  onmessage: ((event: MessageEvent) => void) | null = null
  onclose: ((event: CloseEvent) => void) | null = null
  onerror: ((event: Event) => void) | null = null

  constructor(url: string, changed: (control: Control) => void) {
    this.#socket = new WebSocket(url, 'binary')
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onopen = () => this.onopen?.()
    this.#socket.onclose = (event) => this.onclose?.(event)
    this.#socket.onerror = (event) => this.onerror?.(event)
    this.#socket.onmessage = (event) => {
      if (typeof event.data !== 'string') this.onmessage?.(event)
      else changed(JSON.parse(event.data) as Control)
    }
  }

  get binaryType(): BinaryType {
    return this.#socket.binaryType
  }

  set binaryType(type: BinaryType) {
    this.#socket.binaryType = type
  }

  get protocol(): string {
    return this.#socket.protocol
  }

  get readyState(): number {
    return this.#socket.readyState
  }

  send(data: ArrayBufferLike | ArrayBufferView<ArrayBuffer>): void {
    this.#socket.send(data as ArrayBuffer)
  }

  /** Asks to act, or to let go. */
  ask(type: 'take_over' | 'release'): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({ type }))
  }

  /**
   * Asks the screen for the text that was copied before: it tells of changes alone, and only those who act. The answer
   * comes as a change does (RFB, extended clipboard pseudo-encoding, action `request`, format `text`).
   */
  askForClipboard(): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(clipboardRequest)
  }

  close(): void {
    this.#socket.close()
  }
}

/** ClientCutText whose length is negative: four bytes of flags follow. */
const clipboardRequest = new Uint8Array([6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfc, 0x02, 0, 0, 0x01])
