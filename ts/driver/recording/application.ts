/** The application that an action was for, as it is when the action is over. */
import { Failure } from '@backlot/contract/failure'
import { recording as limits } from '@backlot/contract/limits'
import type { AxSnapshot, Shot, Window } from '@backlot/native'
import { frontmostFirst } from '../action/target.ts'
import type { Call } from '../context.ts'
import { defaultLimits, readTree } from '../observation/trees.ts'

/** The tree of one window, or why there is none. */
export interface WindowTree {
  readonly window: Window
  readonly snapshot?: AxSnapshot
  readonly reason?: string
}

/** Windows, pixels and trees of a process. */
export interface Application {
  readonly taken_at: Date
  /** Its windows, the frontmost first. */
  readonly windows: readonly Window[]
  /** Pixels of the frontmost window that is on the screen. */
  readonly shot?: { readonly window: Window; readonly pixels: Shot }
  /** Pixels of the window that was clicked, where that is another. */
  readonly clicked?: { readonly window: Window; readonly pixels: Shot }
  /** Why there are no pixels, and whether that is a defect: an application that has ended has none. */
  readonly missing?: string
  readonly isDefect?: boolean
  readonly trees: Promise<readonly WindowTree[]>
}

/** A process of which nothing is shown, and why. */
export const noApplication = (missing: string): Application => ({
  taken_at: new Date(),
  windows: [],
  missing,
  trees: Promise.resolve([]),
})

/** Takes the pixels of a process now, and begins to read its trees; never throws. `clicked` is the window of a click. */
export const readApplication = async (call: Call, pid: number, clicked: Window | undefined): Promise<Application> => {
  const taken_at = new Date()
  try {
    // What is recorded of a call is none of its caller's business, who may have given it up.
    const own: Call = { ...call, signal: new AbortController().signal }
    const desktop = await call.driver.desktop()
    const windows = frontmostFirst((await desktop.windows()).filter((window) => window.pid === pid))
    if (windows.length === 0) return { ...noApplication(`process ${pid} has no window`), taken_at }
    const trees = Promise.all(windows.slice(0, limits.windows).map((window) => treeOf(own, window)))
    const front = windows.find(({ is_on_screen, is_minimized }) => is_on_screen && !is_minimized)
    const capturer = await call.driver.capturer()
    const shotOf = async (window: Window) => ({ window, pixels: await capturer.shot(window.window_id) })
    const under = windows.find(({ window_id }) => window_id === clicked?.window_id)
    const [shot, other] = await Promise.allSettled([
      front && shotOf(front),
      under === undefined || under === front ? undefined : shotOf(under),
    ])
    return {
      taken_at,
      windows,
      trees,
      ...(shot.status === 'rejected' && { missing: Failure.from(shot.reason).message, isDefect: true }),
      ...(shot.status === 'fulfilled' &&
        (shot.value ? { shot: shot.value } : { missing: `process ${pid} shows no window` })),
      ...(other.status === 'fulfilled' && other.value && { clicked: other.value }),
    }
  } catch (error) {
    return { ...noApplication(Failure.from(error).message), taken_at, isDefect: true }
  }
}

const treeOf = async (call: Call, window: Window): Promise<WindowTree> => {
  try {
    return { window, snapshot: await readTree(call, window, defaultLimits) }
  } catch (error) {
    return { window, reason: Failure.from(error).message }
  }
}
