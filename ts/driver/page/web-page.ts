/** What a page in a browser can do for us, whichever protocol the browser speaks. */

/** One page of a browser: a tab, or the page of an application's window. */
export interface Tab {
  readonly id: string
  readonly title: string
  readonly url: string
  /** The browser's own name for the window it is in; empty where it has none. */
  readonly window: string
  /** Where that window is, in screen pixels where the browser says so. */
  readonly bounds: Bounds | undefined
}

/** A rectangle in screen pixels. */
export interface Bounds {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A debugger's connection to a browser. */
export interface WebBrowser extends AsyncDisposable {
  readonly route: 'cdp' | 'webdriver_bidi'
  readonly isOpen: boolean
  /** Milliseconds that it may stay connected without being used. */
  readonly lingerMs: number
  /** All pages; throws what a `BrowserSocket` throws. */
  tabs(): Promise<readonly Tab[]>
  /** The page of a tab, ready for commands. */
  page(tab: Tab): Promise<WebPage>
}

/** What a script came to: its value as JSON text made by `describe.js`, or the text of what it threw. */
export type ScriptResult = { readonly value: string } | { readonly thrown: string }

/** A page that is debugged; every command throws `BrowserRefused`, `NoAnswer` or `ConnectionLost`. */
export interface WebPage {
  readonly route: WebBrowser['route']
  /** True once the page behaves as if it were seen: what it says of its visibility is then no evidence. */
  readonly isAwake: boolean
  /**
   * Keeps the page drawing and its timers running, until the connection ends: Chromium lets a page sleep whose window is
   * covered, and no motion of a mouse is ever answered.
   */
  wake(): void
  /** The dialog that is open in the page, as far as it was opened while we were connected. */
  readonly dialog: { readonly type: string; readonly message: string } | undefined
  /** Calls a function of ours in a world that the page's scripts do not see, with one text, for one text. */
  callFunction(functionSource: string, argument: string, timeoutMs: number): Promise<string>
  /** Runs a script in the page's own world; a promise is awaited. */
  run(script: string, timeoutMs: number): Promise<ScriptResult>
  /** Stops what runs in the page, where the browser can. */
  halt(): Promise<boolean>
  /** Moves the page's mouse; CSS pixels of the viewport. */
  move(x: number, y: number, timeoutMs: number): Promise<void>
  /**
   * Presses and releases the left button at a place, unseen by anything but the page; absent in Chromium, which brings its window
   * to the front for every press that comes this way.
   */
  readonly press?: (x: number, y: number, timeoutMs: number) => Promise<void>
}
