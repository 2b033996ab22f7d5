/** An element's double click in a covered window of GTK: the person's window is told nothing, however often. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { element } from '../support/look.ts'
import { toolkits } from '../support/matrix/scene.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { seatPerson } from '../support/person.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
})
afterAll(() => client?.[Symbol.asyncDispose]())

const times = 6

for (const toolkit of ['GTK 3', 'GTK 4']) {
  test(`double clicks on elements of a covered window of ${toolkit} leave the person alone`, async () => {
    await using scene = await (toolkits[toolkit] as (typeof toolkits)[string])(on(), client)
    const { target, button, field } = scene
    const person = await seatPerson(on(), '1240x740+10+10')
    const failed: string[] = []
    try {
      for (let nth = 0; nth < times; nth += 1) {
        for (const label of [button, field]) {
          const mark = scene.journal.mark()
          const arrived = () => label === field || scene.witness(scene.journal.entries(mark)).operated()
          await person
            .undisturbed(async () => {
              const { element_index } = await element(client, target, label ?? '')
              await client.ask('double_click', { ...target, element_index })
              await until('the clicks', arrived)
            })
            .catch((error: Error) => failed.push(`${nth} ${label}: ${error.message}`))
        }
      }
      expect(failed).toEqual([])
    } finally {
      process.kill(person.window.pid, 'SIGKILL')
      process.kill(target.pid, 'SIGKILL')
    }
  })
}
