/** What setting a value by devices takes and tells. */
import type { Evidence } from '../action/evidence.ts'

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
