/** What was last zoomed of each process. */
import { zoomsKept } from '@backlot/contract/limits'
import type { Rect } from '@backlot/native'

/** A zoom picture that was returned. */
export interface Zoom {
  readonly window_id: number
  /** What it shows, in window pixels. */
  readonly region: Rect
  /** Size of the picture. */
  readonly width: number
  readonly height: number
}

/** The last zoom picture of each process, of as many processes as `zoomsKept` says. */
export class ZoomedWindows {
  readonly #zooms = new Map<number, Zoom>()

  /** Keeps a picture as the last one of its process. */
  keep(pid: number, zoom: Zoom): void {
    this.#zooms.delete(pid)
    this.#zooms.set(pid, zoom)
    const [oldest] = this.#zooms.keys()
    if (this.#zooms.size > zoomsKept && oldest !== undefined) this.#zooms.delete(oldest)
  }

  /** The last picture of a process. */
  of(pid: number): Zoom | undefined {
    return this.#zooms.get(pid)
  }

  clear(): void {
    this.#zooms.clear()
  }
}
