/** Which page of a browser a window shows. */
import type { Rect } from '@backlot/contract/desktop'
import type { Tab } from './web-page.ts'

/** A window, as far as its page is known by it. */
export interface TabWindow {
  readonly title: string
  readonly bounds: Rect | null
}

/** Pixels by which a browser's idea of a window may differ from the window manager's: its frame and shadow. */
const frame = 64

/**
 * The pages that a window may show, best evidence first: its title, its place, and, where that leaves several, whether
 * the page says that it is shown (`undefined` where it does not say).
 */
export const shownTabs = async (
  window: TabWindow,
  tabs: readonly Tab[],
  isShown: (tab: Tab) => Promise<boolean | undefined>,
): Promise<readonly Tab[]> => {
  let left = narrow(
    tabs,
    ({ bounds }) => bounds === undefined || window.bounds === null || isNear(bounds, window.bounds),
  )
  left = narrow(left, ({ title }) => isTitleOf(window.title, title))
  if (left.length < 2) return left
  const shown = await Promise.all(left.map(isShown))
  // A page that is hidden may be another tab of its window, or the only one of a window that is covered.
  const inWindows = Map.groupBy(left, ({ window }) => window).values()
  return [...inWindows].flatMap((tabs) => narrow(tabs, (tab) => shown[left.indexOf(tab)] !== false))
}

/** What fits; everything where nothing does, for then the evidence tells nothing. */
const narrow = (tabs: readonly Tab[], fits: (tab: Tab) => boolean): readonly Tab[] => {
  const fitting = tabs.filter(fits)
  return fitting.length > 0 ? fitting : tabs
}

/** Browsers add their name after a dash. */
const isTitleOf = (window: string, page: string): boolean =>
  page !== '' && (window === page || window.startsWith(`${page} - `) || window.startsWith(`${page} — `))

const isNear = (a: Rect, b: Rect): boolean =>
  [a.x - b.x, a.y - b.y, a.x + a.width - b.x - b.width, a.y + a.height - b.y - b.height].every(
    (difference) => Math.abs(difference) <= frame,
  )
