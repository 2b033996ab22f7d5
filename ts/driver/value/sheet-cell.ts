/** Writing into a cell of a sheet by the agent's own pointer and keyboard. */
import { Failure } from '@backlot/contract/failure'
import { typingDelayMs } from '@backlot/contract/limits'
import { deliver } from '../action/act.ts'
import { focusForKeys } from '../action/focus.ts'
import { type ElementTarget, nameOf, orStaleElement, refuseInvisible } from '../action/target.ts'
import type { Call } from '../context.ts'
import { readBack } from './read-back.ts'
import type { Setting } from './setting.ts'

/** True for a cell of a sheet. */
export const isSheetCell = async ({ window, target }: ElementTarget): Promise<boolean> =>
  target.element.role === 'table cell' &&
  (await orStaleElement(window, target.index, target.snapshot.cell(target.index, ''))) !== null

/** Clicks the cell, which is scrolled to where it is out of view, and types over what it holds. */
export const writeCell = async (call: Call, found: ElementTarget, value: string): Promise<Setting> => {
  const { window, target } = found
  if (/\p{Cc}/u.test(value)) {
    throw new Failure(
      'value_not_accepted',
      `${nameOf(target)} takes one line of text: a tab or a line end would go on to another cell. Write each cell by itself.`,
      { element_index: target.index },
    )
  }
  refuseInvisible(window)
  const { window_id } = window
  const { at, evidence } = await focusForKeys(call, found)
  const gathered = [...evidence]
  const press = async (key: string) => {
    gathered.push(...(await deliver(call, (agent) => agent.pressKey({ window_id, key, modifiers: [], at }))))
  }
  if (value !== '') {
    const text = { window_id, text: value, delay_ms: typingDelayMs, at }
    gathered.push(...(await deliver(call, (agent) => agent.typeText(text))))
  }
  // It takes off what the sheet completed by itself from the cells above, or all where nothing was typed.
  await press('delete')
  // The application says of a cell that was emptied what it held, until its cursor has left it.
  await press('return')
  return readBack(call, found, 'agent_keyboard', gathered, async () => {
    const cell = await orStaleElement(window, target.index, target.snapshot.cell(target.index, value))
    return { value: cell?.text ?? null, confirmed: cell?.holds === true }
  })
}
