/** The live film: one encoder for all who look on, which works only while somebody does. */
import { filmLimits as limits } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import type { LiveFilmPart, LiveFilmStart } from '@backlot/native'

/** What makes the pictures, as `LiveFilm` does. */
export interface FilmSource {
  /** The next picture; null when it is closed. */
  next(): Promise<LiveFilmPart | null>
  /** Has the next picture be one that needs no other. */
  refresh(): void
  close(): Promise<unknown>
}

/** One who looks on. */
export interface Viewer {
  /** Takes a picture, or leaves it out; never makes others wait. `start` is the beginning that holds for it. */
  take(part: LiveFilmPart, start: LiveFilmStart): void
  /** There are no more pictures. */
  end(reason: string): void
}

/** Shows one film to many. */
export class Broadcast implements AsyncDisposable {
  readonly #viewers = new Set<Viewer>()
  #live: FilmSource | undefined
  #running: Promise<void> | undefined
  #refreshedAt = Number.NEGATIVE_INFINITY
  #refreshing: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly open: () => Promise<FilmSource>) {}

  /** How many look on. */
  get size(): number {
    return this.#viewers.size
  }

  /** Shows the film to one more, who is given a picture to begin with at once; gives what ends that. */
  join(viewer: Viewer): () => void {
    this.#viewers.add(viewer)
    this.#refresh()
    this.#running ??= this.#run()
    return () => {
      if (this.#viewers.delete(viewer) && this.#viewers.size === 0) void this.#live?.close()
    }
  }

  /** Asks for a picture with which those can go on who left some out, not too often: all others are given it too. */
  refreshSoon(): void {
    const inMs = Math.max(0, this.#refreshedAt + limits.betweenRefreshesMs - performance.now())
    this.#refreshing ??= setTimeout(() => this.#refresh(), inMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#endAll('the server ends')
    await this.#live?.close()
    await this.#running
  }

  #refresh(): void {
    clearTimeout(this.#refreshing)
    this.#refreshing = undefined
    this.#refreshedAt = performance.now()
    this.#live?.refresh()
  }

  async #run(): Promise<void> {
    try {
      while (this.#viewers.size > 0) await this.#show(await this.open())
    } catch (error) {
      this.#endAll(Failure.from(error).message)
    } finally {
      this.#running = undefined
      clearTimeout(this.#refreshing)
      this.#refreshing = undefined
    }
  }

  async #show(live: FilmSource): Promise<void> {
    this.#live = live
    let start: LiveFilmStart | undefined
    try {
      while (this.#viewers.size > 0) {
        const part = await live.next()
        start = part?.start ?? start
        if (part === null || start === undefined) return
        for (const viewer of [...this.#viewers]) viewer.take(part, start)
      }
    } finally {
      this.#live = undefined
      await live.close()
    }
  }

  #endAll(reason: string): void {
    const viewers = [...this.#viewers]
    this.#viewers.clear()
    for (const viewer of viewers) viewer.end(reason)
  }
}
