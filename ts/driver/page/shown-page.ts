/** From a window to the page that it shows, and from what goes wrong there to failures. */
import { Failure } from '@backlot/contract/failure'
import { page as limits } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import { BrowserRefused, ConnectionLost, NoAnswer } from './browser-socket.ts'
import { shownTabs } from './shown-tab.ts'
import type { Tab, WebBrowser, WebPage } from './web-page.ts'

/** A page with the window that shows it. */
export interface ShownPage {
  readonly window: Window
  readonly page: WebPage
  readonly tab: Tab
}

/**
 * Works with the page that the window shows, through the browser's debugging port; `undefined` where it has none. Throws
 * `page_not_found`, `page_ambiguous`, `page_busy`, `page_not_responding`, `page_dialog_open` and `page_gone`.
 */
export const withPage = async <T>(
  call: Call,
  window: Window,
  work: (shownPage: ShownPage) => Promise<T>,
): Promise<T | undefined> => {
  let page: WebPage | undefined
  try {
    return await call.driver.browsers.with(window.pid, async (browser) => {
      if (browser === undefined) return undefined
      const tab = await shownTab(window, browser)
      page = await browser.page(tab)
      refuseDialog(window, page)
      page.wake()
      return work({ window, page, tab })
    })
  } catch (error) {
    if (call.signal.aborted) throw reasonOf(call.signal)
    throw failureOf(window, page, error)
  }
}

const shownTab = async (window: Window, browser: WebBrowser): Promise<Tab> => {
  const tabs = await browser.tabs()
  const shown = await shownTabs(window, tabs, async (tab) => {
    try {
      const page = await browser.page(tab)
      if (page.isAwake) return undefined
      return (await page.callFunction('() => document.visibilityState', '', limits.backgroundMs)) === 'visible'
    } catch {
      return undefined
    }
  })
  const [tab, ...others] = shown
  const facts = { pid: window.pid, window_id: window.window_id }
  if (tab === undefined) {
    throw new Failure(
      'page_not_found',
      `Window ${window.window_id} "${window.title}" shows no page of the browser. Call list_windows for its other windows.`,
      facts,
    )
  }
  if (others.length > 0) {
    const pages = shown.map(({ title, url }) => ({ title, url }))
    throw new Failure(
      'page_ambiguous',
      `Window ${window.window_id} "${window.title}" may show any of ${shown.length} pages: ${pages.map(({ title, url }) => `"${title}" ${url}`).join(', ')}. Move or resize the window, or close pages, so that one fits.`,
      { ...facts, pages },
    )
  }
  return tab
}

const refuseDialog = (window: Window, { dialog }: WebPage): void => {
  if (dialog !== undefined) throw dialogOpen(window, dialog)
}

const dialogOpen = ({ window_id }: Window, { type, message }: NonNullable<WebPage['dialog']>): Failure =>
  new Failure(
    'page_dialog_open',
    `The page shows a dialog (${type}) that says ${JSON.stringify(message.slice(0, 500))} and waits for an answer. Answer it as the person would: call list_windows and get_window_state for its buttons.`,
    { window_id, dialog: { type, message: message.slice(0, 500) } },
  )

/** The failure that an error of the connection means; failures stay what they are. */
const failureOf = (window: Window, page: WebPage | undefined, error: unknown): unknown => {
  const facts = { pid: window.pid, window_id: window.window_id }
  const named = `Window ${window.window_id} "${window.title}"`
  if (error instanceof NoAnswer) {
    if (page?.dialog !== undefined) return dialogOpen(window, page.dialog)
    return new Failure(
      'page_not_responding',
      `${named}: its page does not answer (${error.message}). A script of its own runs, or a dialog is open. Call get_window_state to look, or try again later.`,
      facts,
    )
  }
  if (error instanceof ConnectionLost) {
    return new Failure('page_gone', `${named}: ${error.message}. Call list_windows, then try again.`, facts)
  }
  if (!(error instanceof BrowserRefused)) return error
  if (error.kind === 'session not created') {
    return new Failure(
      'page_busy',
      `${named}: another client debugs this browser, which takes one at a time (${error.message}). End that client, or use get_window_state and click.`,
      facts,
    )
  }
  return new Failure(
    'page_gone',
    `${named}: its page was closed or left for another in the middle of the call (${error.message}). Call page again.`,
    facts,
  )
}
