/** What each caller last zoomed of each process. */
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

/** The last zoom picture that each viewer was given of each process, as many as `zoomsKept` says. */
export class ZoomedWindows {
  readonly #zooms = new Map<string, { readonly viewer: string; readonly zoom: Zoom }>()

  /** Keeps a picture as the last one of its process that these viewers were given. */
  keep(viewers: readonly string[], pid: number, zoom: Zoom): void {
    for (const viewer of viewers) {
      this.#zooms.delete(key(viewer, pid))
      this.#zooms.set(key(viewer, pid), { viewer, zoom })
    }
    for (const oldest of [...this.#zooms.keys()].slice(0, -zoomsKept)) this.#zooms.delete(oldest)
  }

  /** The last picture of a process that the first of these viewers was given, else the next. */
  of(viewers: readonly string[], pid: number): Zoom | undefined {
    return viewers.map((viewer) => this.#zooms.get(key(viewer, pid))?.zoom).find((zoom) => zoom !== undefined)
  }

  /** Forgets the pictures of a viewer that is gone. */
  forget(viewer: string): void {
    for (const [pair, kept] of this.#zooms) if (kept.viewer === viewer) this.#zooms.delete(pair)
  }

  clear(): void {
    this.#zooms.clear()
  }
}

const key = (viewer: string, pid: number): string => `${pid} ${viewer}`
