/** Menus that an agent opens in a covered window take the agent's next click, and the person notices nothing. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { boxOf, popupsOf } from '../support/drop-down.ts'
import { type Scene, toolkits } from '../support/matrix/scene.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { seatPerson } from '../support/person.ts'
import { until } from '../support/until.ts'
import { asPerson } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
})
afterAll(() => client?.[Symbol.asyncDispose]())

/** The choice that a press in the middle of the popup makes, as the application says it. */
const chosen = (scene: Scene, since: number): string | undefined => {
  const choices = scene.journal.entries(since).filter(({ type }) => type === 'changed' || type === 'change')
  const fruit = choices.findLast(({ widget, target }) => widget === 'Fruit' || target === 'fruit')
  return fruit?.value as string | undefined
}

for (const toolkit of ['GTK 3', 'GTK 4', 'Qt 5', 'Qt 6']) {
  test(`a list that a click opened in a covered window of ${toolkit} takes the next click`, async () => {
    await using scene = await (toolkits[toolkit] as (typeof toolkits)[string])(on(), client)
    const { target } = scene
    // Where it opens it may not lie under the person's pointer, which would be in it then.
    await asPerson.move(on(), target.window_id, 640, 60)
    const person = await seatPerson(on(), '1240x740+10+10')
    try {
      const place = await boxOf(client, target, ({ bounds }) => bounds.x > 500)
      const mark = scene.journal.mark()
      await person.undisturbed(async () => {
        await client.ask('click', { ...target, ...place })
        const popup = await until('the list', async () => (await popupsOf(client, target))[0])
        const { width, height } = popup.bounds
        const middle = { x: Math.floor(width / 2), y: Math.floor(height / 2) }
        await client.ask('click', { pid: popup.pid, window_id: popup.window_id, ...middle })
        await until('the choice', () => chosen(scene, mark) !== undefined)
        await until('the list to be closed', async () => (await popupsOf(client, target)).length === 0)
      })
      expect(chosen(scene, mark)).toBe('Pear')
    } finally {
      process.kill(person.window.pid, 'SIGKILL')
      process.kill(target.pid, 'SIGKILL')
    }
  })
}
