/** What setting a value by devices takes and tells. */
import type { Window } from '@backlot/native'
import type { Evidence } from '../action/witnesses.ts'
import type { SeenElement } from '../observation/elements.ts'

/** An element to act on, in its window. */
export interface ElementTarget {
  readonly window: Window
  readonly target: SeenElement
}

/** What became of a value that was set. */
export interface Setting {
  /** How it was done. */
  readonly route: string
  /** True when the value was read back. */
  readonly confirmed: boolean
  /** The value as it was read last; null for what cannot be read. */
  readonly value: string | null
  readonly evidence: readonly Evidence[]
}
