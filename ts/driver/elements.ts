/** What was last seen of each window: the index map of its tree and the scale of its picture. */
import { Failure } from '@backlot/contract/failure'
import type { AxElement, AxSnapshot } from '@backlot/native'

interface Seen {
  snapshot?: AxSnapshot
  /** Picture pixels per window pixel. */
  scale?: number
}

/** An element of the latest snapshot of its window. */
export interface SeenElement {
  readonly index: number
  readonly snapshot: AxSnapshot
  /** As the snapshot holds it. */
  readonly element: AxElement
}

/** Index maps and picture scales by (pid, window_id); the next snapshot or picture of a pair replaces its own. */
export class SeenWindows {
  readonly #windows = new Map<string, Seen & { readonly window_id: number }>()
  readonly #started = Date.now().toString(36)
  #snapshots = 0

  /** Keeps a snapshot as the pair's index map and names it. */
  keepSnapshot(pid: number, window_id: number, snapshot: AxSnapshot): string {
    this.#of(pid, window_id).snapshot = snapshot
    this.#snapshots += 1
    return `${this.#started}-${this.#snapshots}`
  }

  /** Keeps the scale of the picture that was just returned. */
  keepScale(pid: number, window_id: number, scale: number): void {
    this.#of(pid, window_id).scale = scale
  }

  /** Picture pixels per window pixel of the last picture; 1 without a picture. */
  scale(pid: number, window_id: number): number {
    return this.#windows.get(key(pid, window_id))?.scale ?? 1
  }

  /** The index map of the pair, if there is one. */
  snapshot(pid: number, window_id: number): AxSnapshot | undefined {
    return this.#windows.get(key(pid, window_id))?.snapshot
  }

  /** The element of that index, or throws `stale_element`. */
  element(pid: number, window_id: number, index: number): SeenElement {
    const snapshot = this.snapshot(pid, window_id)
    const element = snapshot?.element(index)
    if (snapshot === undefined || !element) throw staleElement(pid, window_id, index)
    return { index, snapshot, element }
  }

  /** Forgets the windows that are no longer there. */
  keepOnly(present: ReadonlySet<number>): void {
    for (const [pair, { window_id }] of this.#windows) if (!present.has(window_id)) this.#windows.delete(pair)
  }

  clear(): void {
    this.#windows.clear()
  }

  #of(pid: number, window_id: number): Seen {
    const pair = key(pid, window_id)
    const seen = this.#windows.get(pair) ?? { window_id }
    this.#windows.set(pair, seen)
    return seen
  }
}

const key = (pid: number, window_id: number): string => `${pid}:${window_id}`

/** The failure for an index that the latest snapshot does not hold, or whose element is gone. */
export const staleElement = (pid: number, window_id: number, element_index: number): Failure =>
  new Failure(
    'stale_element',
    `Element index ${element_index} not found in cache for pid=${pid} window_id=${window_id}. Call get_window_state first.`,
    { pid, window_id, element_index },
  )
