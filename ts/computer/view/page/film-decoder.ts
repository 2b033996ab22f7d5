/** Shows the live film as soon as a picture comes: pictures from a WebSocket, through the browser's own decoder (WebCodecs). */
import type { FilmScreen } from './film-screen.ts'

/** Pictures that may wait for the decoder; one that is slower begins anew. */
const mostWaiting = 120

/** Whether the browser lends its decoder to pages: it does to those that come from this machine, or encrypted. */
export const canDecode = (): boolean => typeof VideoDecoder === 'function'

/** One film on a canvas; it is over when its socket is. */
export class FilmDecoder implements FilmScreen {
  readonly #socket: WebSocket
  readonly #decoder: VideoDecoder
  #codec: string | undefined
  #count = 0
  #isClosed = false
  #isShown = false

  constructor(
    canvas: HTMLCanvasElement,
    address: string,
    /** The film begins to be shown, or is over. */
    private readonly changed: (isShown: boolean) => void,
    /** The browser cannot decode it. */
    private readonly refused: () => void,
  ) {
    const context = canvas.getContext('2d', { alpha: false })
    this.#decoder = new VideoDecoder({
      output: (frame) => {
        const { displayWidth: width, displayHeight: height } = frame
        // A canvas that gets a size, its own too, turns black.
        if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
        context?.drawImage(frame, 0, 0)
        frame.close()
        if (!this.#isShown) this.changed(true)
        this.#isShown = true
      },
      error: () => {
        if (!this.#isShown) this.refused()
        this.close()
      },
    })
    this.#socket = new WebSocket(`${address}?pictures`)
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onclose = this.close
    this.#socket.onmessage = ({ data }) => this.#take(data as string | ArrayBuffer)
  }

  /** Ends it; closing twice is fine. */
  readonly close = (): void => {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.close()
    if (this.#decoder.state !== 'closed') this.#decoder.close()
    this.changed(false)
  }

  #take(data: string | ArrayBuffer): void {
    if (this.#isClosed) return
    try {
      if (typeof data === 'string') this.#codec = codecOf((JSON.parse(data) as { mime: string }).mime)
      else if (this.#codec !== undefined) this.#begin(this.#codec, new Uint8Array(data))
      else this.#decode(new Uint8Array(data))
    } catch {
      // The decoder takes no more; whoever shows the film begins another.
      this.close()
    }
  }

  #begin(codec: string, header: Uint8Array): void {
    this.#codec = undefined
    this.#decoder.configure({ codec, description: descriptionIn(header), optimizeForLatency: true })
  }

  #decode(message: Uint8Array): void {
    if (this.#decoder.decodeQueueSize > mostWaiting) throw new Error('the decoder is too slow')
    const type = message[0] === 1 ? 'key' : 'delta'
    this.#decoder.decode(new EncodedVideoChunk({ type, timestamp: this.#count++, data: message.subarray(1) }))
  }
}

const codecOf = (mime: string): string => /codecs="([^"]*)"/.exec(mime)?.[1] ?? ''

/** What the box `avcC` of the beginning of an MP4 holds. */
const descriptionIn = (header: Uint8Array): Uint8Array => {
  const name = [...'avcC'].map((letter) => letter.charCodeAt(0))
  const at = header.findIndex((_, place) => name.every((code, offset) => header[place + offset] === code))
  const size = new DataView(header.buffer, header.byteOffset).getUint32(at - 4)
  return header.slice(at + 4, at - 4 + size)
}
