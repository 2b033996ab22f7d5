/** Dialogs that an agent opens in a covered window leave the person's keys where they were. */
import { afterAll, beforeAll, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { dialogsOf, toolkits } from '../support/dialogs.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
})
afterAll(() => client?.[Symbol.asyncDispose]())

for (const toolkit of toolkits) {
  test(
    `dialogs of ${toolkit} are opened and answered while a person types, and take none of the keys of the person`,
    () => dialogsOf(on(), client, toolkit),
    120_000,
  )
}
