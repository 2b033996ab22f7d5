/** Reading the tree of a window, as much of it as was asked for. */
import { addAbortListener } from 'node:events'
import { tree as defaults } from '@backlot/contract/limits'
import type { AxSnapshot, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { TreeLimits } from './elements.ts'

/** How much of a tree is read when the call does not say. */
export const defaultLimits: TreeLimits = {
  max_elements: defaults.maxElements,
  max_depth: defaults.maxDepth,
  timeout_ms: defaults.timeoutMs,
  offscreen: false,
}

/** The tree of a window as it is now. */
export const readTree = async (
  { driver, signal }: Call,
  { pid, window_id, title, width, height, bounds }: Window,
  limits: TreeLimits,
): Promise<AxSnapshot> => {
  const { AxCancel } = await driver.native()
  const accessibility = await driver.accessibility()
  const cancel = new AxCancel()
  using _cancelling = addAbortListener(signal, () => cancel.cancel())
  return await accessibility.snapshot({ pid, window_id, title, width, height, bounds, ...limits }, cancel)
}

/**
 * The tree of a window as it is now, with the indices that its callers know, which stay valid; `offscreen` with all that
 * lies beyond the view, as it is read too where the callers know such elements, and the `cell` of a sheet of that name.
 */
export const refreshedMap = async (
  call: Call,
  window: Window,
  offscreen = false,
  cell?: string,
): Promise<AxSnapshot> => {
  const { windowCache } = call.driver
  const { pid, window_id } = window
  const known = windowCache.snapshot(pid, window_id)
  const limits = windowCache.limits(pid, window_id) ?? defaultLimits
  const isWhole = offscreen || limits.offscreen || known?.offscreen.listed === true
  const named = cell === undefined ? {} : { cell }
  const fresh = await readTree(call, window, { ...limits, offscreen: isWhole, ...named })
  const map = known === undefined ? fresh : fresh.keepingIndices(known)
  windowCache.refreshMap(pid, window_id, map)
  return map
}
