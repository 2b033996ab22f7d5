/** Changes that applications make themselves, each of which the next look must show. */
import type { Changing, Order } from './changing.ts'
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'

/** An order, and whether the tree shows a text after it. */
interface Change {
  readonly order: Order
  readonly text: string
  readonly isShown: boolean
}

/** The changes by turns: a text, a field, a slider, a check box, a new button, its new name, its end. */
const change = (number: number): Change => {
  const shows = (text: string, ...order: Order): Change => ({ order, text, isShown: true })
  const kinds: readonly (() => Change)[] = [
    () => shows(`"Status ${number}"`, 'say', `Status ${number}`),
    () => shows(`value="text ${number}"`, 'fill', `text ${number}`),
    () => shows(`value="${number % 1000}"`, 'level', number % 1000),
    () => shows('"Switch" value="checked"', 'check', true),
    () => shows('"Switch" value="unchecked"', 'check', false),
    () => shows(`"New ${number}"`, 'add', `New ${number}`),
    () => shows(`"Named ${number}"`, 'rename', `New ${number - 1}`, `Named ${number}`),
    () => ({ order: ['remove', `Named ${number - 1}`], text: `"Named ${number - 1}"`, isShown: false }),
  ]
  return (kinds[number % kinds.length] ?? kinds[0])?.() as Change
}

interface State {
  readonly tree_markdown: string
}

/**
 * Makes `count` changes and answers those that were missed: by the next look, or by any within a while where the
 * application announces its own changes late, as browsers do.
 */
export const missedChanges = async (
  client: McpClient,
  app: Changing,
  count: number,
  { isLate }: { readonly isLate: boolean },
): Promise<readonly string[]> => {
  const target = { pid: app.pid, window_id: app.window_id, capture_mode: 'ax' }
  const missed: string[] = []
  for (let number = 0; number < count; number += 1) {
    const { order, text, isShown } = change(number)
    await app.tell(...order)
    const isThere = async () =>
      (await client.ask<State>('get_window_state', target)).tree_markdown.includes(text) === isShown
    const seen = isLate ? await until(JSON.stringify(order), isThere).catch(() => false) : await isThere()
    if (!seen) missed.push(`${number}: ${JSON.stringify(order)}`)
  }
  return missed
}
