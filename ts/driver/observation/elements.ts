/** What was last seen of each window: the index map of its tree and the scale of its picture. */
import { Failure } from '@backlot/contract/failure'
import type { AxElement, AxSnapshot } from '@backlot/native'

/** How much of a tree is read. */
export interface TreeLimits {
  readonly max_elements: number
  readonly max_depth: number
  readonly timeout_ms: number
  /** Whether what lies beyond the view is read too. */
  readonly offscreen: boolean
  /** The name of a cell that is read too, where the window shows a sheet; another word names none. */
  readonly cell?: string
}

/** A snapshot that a call has returned, under its id. */
export interface NamedSnapshot {
  readonly id: string
  readonly snapshot: AxSnapshot
}

interface WindowRecord {
  /** What an element_index means now: the latest snapshot that a call has returned, or a later one with the same indices. */
  map?: AxSnapshot
  limits?: TreeLimits
  /** The latest that calls have returned, the newest last. */
  returned: readonly NamedSnapshot[]
  /** Picture pixels per window pixel of the last picture of each viewer, the latest last. */
  readonly scales: Map<string, number>
}

/** Snapshots of a window that `since` can name. */
const returnedKept = 4

/** Viewers of a window whose last picture is remembered. */
const scalesKept = 64

/** An element of the latest snapshot of its window. */
export interface IndexedElement {
  readonly index: number
  readonly snapshot: AxSnapshot
  /** As the snapshot holds it. */
  readonly element: AxElement
}

/** Index maps and picture scales by (pid, window_id); the next snapshot or picture of a pair replaces its own. */
export class WindowCache {
  readonly #windows = new Map<string, WindowRecord & { readonly window_id: number }>()
  readonly #started = Date.now().toString(36)
  #snapshots = 0

  /** Keeps a snapshot as the pair's index map and names it. */
  keepSnapshot(pid: number, window_id: number, snapshot: AxSnapshot, limits: TreeLimits): string {
    const record = this.#of(pid, window_id)
    this.#snapshots += 1
    const id = `${this.#started}-${this.#snapshots}`
    Object.assign(record, {
      map: snapshot,
      limits,
      returned: [...record.returned, { id, snapshot }].slice(-returnedKept),
    })
    return id
  }

  /** Replaces the pair's index map by a later reading that keeps its indices. */
  refreshMap(pid: number, window_id: number, snapshot: AxSnapshot): void {
    this.#of(pid, window_id).map = snapshot
  }

  /** The snapshot that was told under that id, or the latest when none is named. */
  returnedSnapshot(pid: number, window_id: number, id?: string): NamedSnapshot | undefined {
    const returned = this.#windows.get(key(pid, window_id))?.returned
    return id === undefined ? returned?.at(-1) : returned?.find((each) => each.id === id)
  }

  /** How much of the pair's tree was read last. */
  limits(pid: number, window_id: number): TreeLimits | undefined {
    return this.#windows.get(key(pid, window_id))?.limits
  }

  /** Keeps the scale of the picture that was just returned to these viewers. */
  keepScale(pid: number, window_id: number, viewers: readonly string[], scale: number): void {
    const { scales } = this.#of(pid, window_id)
    for (const viewer of viewers) {
      scales.delete(viewer)
      scales.set(viewer, scale)
    }
    for (const oldest of [...scales.keys()].slice(0, -scalesKept)) scales.delete(oldest)
  }

  /** Picture pixels per window pixel of the last picture of the first viewer that has one; 1 without a picture. */
  scale(pid: number, window_id: number, viewers: readonly string[]): number {
    const scales = this.#windows.get(key(pid, window_id))?.scales
    return viewers.map((viewer) => scales?.get(viewer)).find((scale) => scale !== undefined) ?? 1
  }

  /** Forgets the pictures of a viewer that is gone. */
  forgetScales(viewer: string): void {
    for (const { scales } of this.#windows.values()) scales.delete(viewer)
  }

  /** The index map of the pair, if there is one. */
  snapshot(pid: number, window_id: number): AxSnapshot | undefined {
    return this.#windows.get(key(pid, window_id))?.map
  }

  /** The element of that index, if the index map has it. */
  element(pid: number, window_id: number, index: number): IndexedElement | undefined {
    const snapshot = this.snapshot(pid, window_id)
    const element = snapshot?.element(index)
    return snapshot && element ? { index, snapshot, element } : undefined
  }

  /** Forgets the windows that are no longer there. */
  keepOnly(present: ReadonlySet<number>): void {
    for (const [pair, { window_id }] of this.#windows) if (!present.has(window_id)) this.#windows.delete(pair)
  }

  clear(): void {
    this.#windows.clear()
  }

  #of(pid: number, window_id: number): WindowRecord {
    const pair = key(pid, window_id)
    const record = this.#windows.get(pair) ?? { window_id, returned: [], scales: new Map() }
    this.#windows.set(pair, record)
    return record
  }
}

const key = (pid: number, window_id: number): string => `${pid}:${window_id}`

/** The failure for an index that the latest snapshot does not hold, or whose element is gone. */
export const staleElement = (
  pid: number,
  window_id: number,
  element_index: number,
  candidates: readonly Candidate[] = [],
): Failure =>
  new Failure(
    'stale_element',
    `Element index ${element_index} not found in cache for pid=${pid} window_id=${window_id}.${listed(candidates)} Call get_window_state first.`,
    { pid, window_id, element_index, candidates },
  )

/** The failure for a token whose element the window does not show now. */
export const staleToken = (
  pid: number,
  window_id: number,
  element_token: string,
  candidates: readonly Candidate[],
): Failure =>
  new Failure(
    'stale_element',
    `Element token "${element_token}" stands for nothing in window_id=${window_id} of pid=${pid} now.${listed(candidates)} Call get_window_state first.`,
    { pid, window_id, element_token, candidates },
  )

/** An element that may be meant instead of one that is gone. */
export interface Candidate {
  readonly element_token: string
  readonly role: string
  readonly label: string
}

/** The elements of a snapshot that have most in common with that of a token. */
export const candidatesFor = (snapshot: AxSnapshot, token: string): readonly Candidate[] =>
  JSON.parse(snapshot.nearest(token))

const listed = (candidates: readonly Candidate[]): string =>
  candidates.length === 0
    ? ''
    : ` Most like it: ${candidates.map(({ role, label, element_token }) => `${role} "${label}" (element_token ${element_token})`).join(', ')}.`
