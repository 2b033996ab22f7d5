/** What is found out in the course of one call, for its answer and its recording. */
import type { Window } from '@backlot/native'
import type { LateNotes } from './action/late-effects.ts'
import type { IndexedElement } from './observation/elements.ts'

/** What a call turned out to act on, as far as it is known. */
export interface ActedOn {
  readonly window?: Window
  readonly target?: IndexedElement
  /** Where the pointer pressed, in window pixels. */
  readonly point?: { readonly x: number; readonly y: number }
}

/** An element that was used in place of one that is gone. */
export interface Lookalike {
  readonly how: 'lookalike'
  readonly element_token: string
  readonly role: string
  readonly label: string
}

/** Notes of one call; each step of a call that holds others has its own. */
export interface Notes extends LateNotes {
  actedOn: ActedOn
  lookalike?: Lookalike
  /** How an element was brought into view before it was acted on. */
  scrolled?: 'toolkit' | 'wheel'
}

/** The notes of a call that begins. */
export const emptyNotes = (): Notes => ({ actedOn: {} })
