/** Plays the live film: fragments of MP4 from a WebSocket, through the browser's own decoder (Media Source Extensions). */
import type { FilmScreen } from './film-screen.ts'

/** Seconds that the picture shown may lag behind the newest one, and how fast it is played meanwhile. */
const paces = [
  { behind: 1, rate: 8 },
  { behind: 0.25, rate: 2 },
  { behind: 0.1, rate: 1.2 },
] as const

/** Seconds that the picture shown may lag behind at most: a player that does not catch up is set on. */
const mostBehind = 3

/** Seconds before the end of what there is that show its last picture. */
const lastPicture = 0.01

type Piece = { readonly mime: string } | ArrayBuffer

/** One film in a video element; it is over when its socket is. */
export class FilmPlayer implements FilmScreen {
  readonly #media = new MediaSource()
  readonly #socket: WebSocket
  readonly #url: string
  readonly #pieces: Piece[] = []
  #source: SourceBuffer | undefined
  #isClosed = false

  constructor(
    private readonly video: HTMLVideoElement,
    address: string,
    /** The film begins to be shown, or is over. */
    private readonly changed: (isShown: boolean) => void,
  ) {
    this.#url = URL.createObjectURL(this.#media)
    video.src = this.#url
    this.#media.addEventListener('sourceopen', () => this.#go())
    video.addEventListener('error', this.close)
    video.addEventListener('playing', this.#shown)
    this.#socket = new WebSocket(address)
    this.#socket.binaryType = 'arraybuffer'
    this.#socket.onclose = this.close
    this.#socket.onmessage = ({ data }) => {
      this.#pieces.push(typeof data === 'string' ? (JSON.parse(data) as { mime: string }) : (data as ArrayBuffer))
      this.#go()
    }
  }

  /** Ends it; closing twice is fine. */
  readonly close = (): void => {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.close()
    this.video.removeEventListener('error', this.close)
    this.video.removeEventListener('playing', this.#shown)
    this.video.removeAttribute('src')
    this.video.load()
    URL.revokeObjectURL(this.#url)
    this.changed(false)
  }

  readonly #shown = (): void => this.changed(true)

  /** Gives the decoder what has come, as much at once as belongs together. */
  #go(): void {
    if (this.#isClosed || this.#media.readyState !== 'open' || this.#source?.updating) return
    try {
      this.#give()
    } catch {
      // The decoder takes no more; whoever shows the film begins another.
      this.close()
    }
  }

  #give(): void {
    const [first] = this.#pieces
    if (first === undefined) return
    if ('mime' in first) {
      this.#pieces.shift()
      if (this.#source !== undefined) this.#source.changeType(first.mime)
      else {
        this.#source = this.#media.addSourceBuffer(first.mime)
        this.#source.addEventListener('updateend', () => {
          this.#keepUp()
          this.#go()
        })
      }
      this.#give()
      return
    }
    const next = this.#pieces.findIndex((piece) => 'mime' in piece)
    const bytes = this.#pieces.splice(0, next === -1 ? this.#pieces.length : next) as ArrayBuffer[]
    this.#source?.appendBuffer(joined(bytes))
  }

  /**
   * Shows what came last as soon as can be; where pictures were left out, what comes after them. The browser lets go of what
   * was shown by itself, whole pictures with all that go by them.
   */
  #keepUp(): void {
    const { video } = this
    const { buffered } = video
    if (buffered.length === 0) return
    const start = buffered.start(buffered.length - 1)
    const end = buffered.end(buffered.length - 1)
    if (video.currentTime < start) video.currentTime = start
    const behind = end - video.currentTime
    // A busy machine's clock runs past the end of a film that stands still; what comes then would be over before it is shown.
    if (behind <= 0 || behind > mostBehind) video.currentTime = end - lastPicture
    video.playbackRate = paces.find((pace) => behind > pace.behind)?.rate ?? 1
    if (video.paused) void video.play().catch(() => undefined)
  }
}

const joined = (parts: readonly ArrayBuffer[]): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    all.set(new Uint8Array(part), at)
    at += part.byteLength
  }
  return all
}
