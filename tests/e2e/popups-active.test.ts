/** Lists that an agent opens in the window where the person works stay open, and take the agent's next click. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { boxOf, popupsOf } from '../support/drop-down.ts'
import { toolkits } from '../support/matrix/scene.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'
import { asPerson, displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
})
afterAll(() => client?.[Symbol.asyncDispose]())

for (const toolkit of ['GTK 3', 'GTK 4', 'Qt 5', 'Qt 6']) {
  test(`a list that a click opened in the active window of ${toolkit} takes the next click`, async () => {
    await using scene = await (toolkits[toolkit] as (typeof toolkits)[string])(on(), client)
    const { target, journal } = scene
    try {
      await asPerson.activate(on(), target.window_id)
      await until('the window to be active', async () => (await displayState(on())).active_window === target.window_id)
      const place = await boxOf(client, target)
      const mark = journal.mark()
      await client.ask('click', { ...target, ...place })
      const popup = await until('the list', async () => (await popupsOf(client, target))[0])
      const middle = { x: Math.floor(popup.bounds.width / 2), y: Math.floor(popup.bounds.height / 2) }
      await client.ask('click', { pid: popup.pid, window_id: popup.window_id, ...middle })
      const isChoice = ({ type, widget }: Record<string, unknown>) => type === 'changed' && widget === 'Fruit'
      const choice = await journal.waitFor('the choice', isChoice, mark)
      expect(choice.value).toBe('Pear')
    } finally {
      process.kill(target.pid, 'SIGKILL')
    }
  })
}
