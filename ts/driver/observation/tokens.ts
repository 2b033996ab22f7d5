/** Elements by their token, which outlives snapshots. */

import { requireWindowId, windowOf } from '../action/target.ts'
import type { Call } from '../context.ts'
import { candidatesFor, staleToken } from './elements.ts'
import { noteLookalike } from './lookalike.ts'
import { refreshedMap } from './trees.ts'

interface TokenTarget {
  readonly pid?: number
  readonly window_id?: number
  readonly element_token?: string
}

/** The arguments with the index of the element that `element_token` stands for; throws `stale_element`. */
export const withElementIndex = async <Args extends TokenTarget>(call: Call, args: Args): Promise<Args> => {
  const { element_token: token, pid, window_id }: TokenTarget = args
  if (token === undefined) return args
  const window = await windowOf(call, pid ?? 0, requireWindowId(window_id, 'element_token'))
  const { windowCache } = call.driver
  const known = windowCache.snapshot(window.pid, window.window_id)
  const found = known?.find(token)
  // What is not what the token was made of may have its true likeness in what appeared since.
  if (found?.how === 'same') return { ...args, element_index: found.element_index }
  const map = await refreshedMap(call, window, true)
  const now = map.find(token)
  if (now === null) throw staleToken(window.pid, window.window_id, token, candidatesFor(map, token))
  const element = map.element(now.element_index)
  if (now.how === 'lookalike' && element) noteLookalike(call, { index: now.element_index, snapshot: map, element })
  return { ...args, element_index: now.element_index }
}
