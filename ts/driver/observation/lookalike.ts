/** An element whose object has gone, and the only one that has taken its place. */
import { Failure } from '@backlot/contract/failure'
import type { AxElement, Window } from '@backlot/native'
import type { Call } from '../context.ts'
import { candidatesFor, type IndexedElement, staleElement } from './elements.ts'
import { refreshedMap } from './trees.ts'

/** Notes that the call uses this element in place of one that is gone. */
export const noteLookalike = (call: Call, { snapshot, index, element }: IndexedElement): void => {
  const { role, label } = element
  call.notes.lookalike = { how: 'lookalike', element_token: snapshot.token(index), role, label }
}

/**
 * The element of an index as it is now. Where its object has gone and exactly one element has the same role, name and
 * ancestors, that one; otherwise throws `stale_element` with the candidates.
 */
export const elementNow = async (call: Call, window: Window, index: number): Promise<IndexedElement> => {
  const { windowCache } = call.driver
  const { pid, window_id } = window
  const was = windowCache.element(pid, window_id, index)
  const read = was && (await unlessStale(was.snapshot.read(index)))
  // An object that reads otherwise may have been given to another row.
  const isSame = read !== undefined && read.role === was?.element.role && read.label === was.element.label
  if (was !== undefined && isSame) return { ...was, element: read }
  // The index map may have been read again since the caller saw the element.
  const token = (was?.snapshot ?? windowCache.returnedSnapshot(pid, window_id)?.snapshot)?.token(index) ?? ''
  if (token === '') throw staleElement(pid, window_id, index)
  const map = await refreshedMap(call, window, true)
  const found = map.find(token)
  const element = found && (await unlessStale(map.read(found.element_index)))
  if (!element) throw staleElement(pid, window_id, index, candidatesFor(map, token))
  const target: IndexedElement = { index: found.element_index, snapshot: map, element }
  if (found.how === 'lookalike') noteLookalike(call, target)
  return target
}

/** What was read of an element; `undefined` when it is gone. */
const unlessStale = async (read: Promise<AxElement>): Promise<AxElement | undefined> => {
  try {
    return await read
  } catch (error) {
    if (Failure.from(error).code !== 'stale_element') throw error
    return undefined
  }
}
