/** The accessibility tree of everything on the screen. */
import { boundsOf } from '@backlot/contract/desktop'
import { Failure } from '@backlot/contract/failure'
import type { Window } from '@backlot/native'
import type { Handlers } from '../../backend.ts'
import { type Element, findIn } from '../elements.ts'
import type { Display } from './display.ts'

/** What the native core tells of an element, in screen pixels. */
interface Read {
  readonly role: string
  readonly label: string
  readonly value: string | null
  readonly enabled: boolean
  readonly frame: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly actions: string[]
  /** 0 for what lies in nothing else of the window. */
  readonly depth: number
}

/** Elements of one window that are read, and how deep. */
const most = { max_elements: 5_000, max_depth: 60, all_places: true, timeout_ms: 5_000 } as const

export const accessibilityHandlers = (display: Display) => {
  const readTree = async (signal: AbortSignal): Promise<{ tree: Element; truncated: boolean }> => {
    const desktop = await display.desktop()
    const accessibility = await display.accessibility()
    const { width, height } = await desktop.screen()
    const windows = (await desktop.windows()).filter(({ is_on_screen }) => is_on_screen)
    signal.throwIfAborted()
    let truncated = false
    const read = async (window: Window): Promise<Element> => {
      const { pid, window_id, title, width, height, app_name } = window
      const bounds = boundsOf(window)
      let children: Element[] = []
      try {
        const snapshot = await accessibility.snapshot({ pid, window_id, title, width, height, bounds, ...most })
        truncated ||= snapshot.partial !== null
        children = nested(JSON.parse(snapshot.printed()) as Read[])
      } catch (error) {
        const { code } = Failure.from(error)
        if (code !== 'not_accessible' && code !== 'accessibility_timeout' && code !== 'window_not_found') throw error
        truncated = true
      }
      const shown = { role: 'window', title, value: app_name, enabled: true, actions: [], children }
      return { ...shown, ...placed(bounds) }
    }
    const children = await Promise.all(windows.map(read))
    const desk = { role: 'desktop', title: 'Desktop', value: null, enabled: true, actions: [], children }
    return { tree: { ...desk, ...placed({ x: 0, y: 0, width, height }) }, truncated }
  }
  return {
    get_accessibility_tree: (_, { signal }) => readTree(signal),
    find_element: (wanted, { signal }) => findIn(async () => (await readTree(signal)).tree, wanted),
  } satisfies Handlers
}

const placed = (bounds: { x: number; y: number; width: number; height: number }) => {
  const { x, y, width, height } = bounds
  return { position: { x, y }, size: { width, height }, bounds: { x, y, width, height } }
}

/** The elements of a window, each in the one that it lies in: parents stand before their children. */
const nested = (read: readonly Read[]): Element[] => {
  const roots: Element[] = []
  const open: Element[] = []
  for (const { role, label, value, enabled, frame, actions, depth } of read) {
    const bounds = { x: frame.x, y: frame.y, width: frame.w, height: frame.h }
    const element: Element = { role, title: label, value, enabled, actions, ...placed(bounds), children: [] }
    const parent = open[depth - 1]
    if (parent === undefined) roots.push(element)
    else parent.children.push(element)
    open.length = depth
    open.push(element)
  }
  return roots
}
