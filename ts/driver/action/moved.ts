/** Whether a scroll moved anything: by the places of what a window shows, and by its pixels. */
import { setTimeout as pause } from 'node:timers/promises'
import { evidence, scroll as limits, observation } from '@backlot/contract/limits'
import type { AxFrame, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import { defaultLimits, readTree } from '../observation/trees.ts'
import type { Action } from './act.ts'
import { type Direction, hasScrolled, type Places } from './places.ts'

/** A window as it was before a scroll. */
export interface BeforeScroll {
  /** True when something is elsewhere now, false when the window is as it was, null where that cannot be told. */
  hasMoved(scrolled: Action): Promise<boolean | null>
}

/** Looks at a window before a scroll, once its application rests: what comes and goes by itself is no scroll. */
export const beforeScroll = async (call: Call, window: Window, direction: Direction): Promise<BeforeScroll> => {
  const accessibility = await call.driver.accessibility().catch(() => undefined)
  const look = async (isRead: boolean) => {
    const [tree, pixels] = await Promise.all([isRead ? placesIn(call, window) : undefined, pixelsOf(call, window)])
    return { tree, pixels }
  }
  const rests = await accessibility?.settled(window.pid, observation.quietMs, limits.restsMs)
  const before = await look(true)
  return {
    async hasMoved({ evidence: facts, target }) {
      const handling = handlingOf(call, window)
      for (;;) {
        // Asked before the look: what is seen then is what came of the scroll.
        const isOver = performance.now() >= handling.deadline
        const now = await look(before.tree !== undefined)
        const hasMoved = before.tree && now.tree && hasScrolled(before.tree, now.tree, direction, rests !== false)
        const isSame = now.pixels !== undefined && now.pixels === before.pixels
        // A browser lists more of its page from time to time, which nobody sees.
        if (hasMoved === true || (hasMoved === 'replaced' && !isSame)) return true
        if (isOver || call.signal.aborted) {
          if (!handling.isDone) return null
          if (isSame) return false
          if (hasMoved === null || hasMoved === 'replaced') return null
          // Where elements would move none has: other pixels are a highlight.
          const isTold = now.tree !== undefined && target !== undefined && !texts.has(target.element.role)
          if (isTold) return false
          return rests !== false && facts.some(({ kind }) => kind === 'pixels_changed') ? true : null
        }
        await pause(limits.movesMs / 6)
      }
    },
  }
}

/** How far an application is with what it was sent. */
interface Handling {
  /** False while it may still have the scroll before it. */
  isDone: boolean
  /** When looking can end, by `performance.now`. */
  deadline: number
}

/** Of an application that can prove what it has handled, what is to be seen counts from then on; of others, from now on. */
const handlingOf = (call: Call, { window_id }: Window): Handling => {
  const start = performance.now()
  const handling: Handling = { isDone: false, deadline: start + evidence.handledMs + limits.movesMs }
  const done = (isDone: boolean) => {
    handling.isDone = isDone
    handling.deadline = performance.now() + limits.movesMs
  }
  call.driver
    .queues()
    .then((queues) => queues.handled(window_id, evidence.handledMs))
    .then((answer) => done(answer !== false))
    .catch(() => done(true))
  return handling
}

/** What scrolls inside itself, where no element tells of it. */
const texts: ReadonlySet<string> = new Set(['text', 'entry', 'terminal', 'document web', 'document text', 'canvas'])

interface Placed {
  readonly element_token: string
  readonly role: string
  readonly value: string | null
  readonly frame: AxFrame
}

/** What is shown where, and how far scroll bars are; `undefined` where the application does not tell. */
const placesIn = async (call: Call, window: Window): Promise<Places | undefined> => {
  try {
    const tree = await readTree(call, window, defaultLimits)
    // Of what is missing nothing can be said.
    if (tree.partial !== null) return undefined
    const all = JSON.parse(tree.elements(null)) as Placed[]
    const bars = (JSON.parse(tree.printed()) as Placed[]).filter(({ role }) => role === 'scroll bar')
    return {
      frames: new Map(all.map(({ element_token, frame }) => [element_token, frame])),
      bars: JSON.stringify(bars.map(({ value }) => value)),
    }
  } catch {
    return undefined
  }
}

/** Digest of the window's pixels; `undefined` where it shows none. */
const pixelsOf = async (call: Call, { window_id, is_on_screen }: Window): Promise<string | undefined> => {
  if (!is_on_screen) return undefined
  return (await call.driver.capturer()).digest(window_id, null).catch(() => undefined)
}
