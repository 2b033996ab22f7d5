/**
 * The WebSocket of one who looks on at the live film. A text message is JSON, `{"type": "start", "mime": …, "width": …,
 * "height": …}`, and the next binary message the beginning of an MP4 of that type; each further one is a fragment of it, or,
 * where pictures alone are wanted, one byte, 1 for a picture that needs no other and else 0, and the picture's NAL units, each
 * after its length in four bytes. A screen of another size begins again so.
 */
import { filmLimits as limits } from '@backlot/contract/computer/limits'
import type { LiveFilmPart, LiveFilmStart } from '@backlot/native'
import type { SocketHandler, WebSocketOfServer } from '@backlot/serve'
import type { Broadcast, Viewer } from './broadcast.ts'

/** What a viewer is sent of each picture. */
export type FilmForm = 'fragments' | 'pictures'

/** Handles one. */
export const filmSocket = (broadcast: Broadcast, form: FilmForm): SocketHandler => {
  let shown: ShownFilm | undefined
  let leave = () => {}
  return {
    open(socket) {
      if (broadcast.size >= limits.mostViewers) {
        socket.close(1013, 'too many look on')
        return
      }
      shown = new ShownFilm(socket, form, () => broadcast.refreshSoon())
      leave = broadcast.join(shown)
    },
    // There is nothing to say.
    message: () => undefined,
    drain: () => shown?.goOn(),
    close: () => leave(),
  }
}

class ShownFilm implements Viewer {
  /** The beginning that was sent. */
  #start: LiveFilmStart | undefined
  /** When it fell behind; pictures are left out from then until all that was sent has left. */
  #behindSince: number | undefined
  /** Some picture was left out. */
  #hasMissed = false
  #isWaiting = true

  constructor(
    private readonly socket: WebSocketOfServer,
    private readonly form: FilmForm,
    private readonly refresh: () => void,
  ) {}

  take(part: LiveFilmPart, start: LiveFilmStart): void {
    if (this.#behindSince !== undefined) this.goOn()
    if (this.#behindSince !== undefined) {
      this.#hasMissed = true
      if (performance.now() - this.#behindSince > limits.mostBehindMs) this.end('the film is not read')
      return
    }
    if (this.#isWaiting && !part.sync) return
    // Whoever shows a picture as soon as it is there needs none after it.
    if (part.filler && this.form === 'pictures') return
    this.#isWaiting = false
    if (this.#start !== start) {
      const { width, height, codec, header } = start
      this.socket.send(JSON.stringify({ type: 'start', mime: `video/mp4; codecs="${codec}"`, width, height }))
      this.socket.sendBinary(header)
      this.#start = start
    }
    this.socket.sendBinary(this.form === 'fragments' ? part.fragment : pictureOf(part))
    if (this.socket.getBufferedAmount() > limits.mostWaitingBytes) this.#behindSince = performance.now()
  }

  /** Goes on once all that was sent has left: where something was left out, with the next picture to begin with. */
  goOn(): void {
    if (this.#behindSince === undefined || this.socket.getBufferedAmount() > 0) return
    this.#behindSince = undefined
    if (!this.#hasMissed) return
    this.#hasMissed = false
    this.#isWaiting = true
    this.refresh()
  }

  end(reason: string): void {
    // A reason has at most 123 bytes (RFC 6455, 5.5).
    this.socket.close(1013, Buffer.from(reason).subarray(0, 100).toString('latin1'))
  }
}

/** A picture after the byte that says whether it needs no other. */
const pictureOf = ({ fragment, picture_start, sync }: LiveFilmPart): Uint8Array => {
  const bytes = Uint8Array.prototype.slice.call(fragment, picture_start - 1)
  bytes[0] = Number(sync)
  return bytes
}
