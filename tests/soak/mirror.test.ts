import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { missedChanges } from '../support/changes.ts'
import { startChanging, toolkits } from '../support/changing.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(1_200_000))

const on = privateDesktop()
const changes = rounds(500)
let client: McpClient

beforeAll(async () => {
  client = await connect(on(), '--direct')
}, 60_000)

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
}, 30_000)

for (const toolkit of toolkits) {
  test(`none of ${changes} changes that a ${toolkit} application makes is missed`, async () => {
    await using app = await startChanging(on(), client, toolkit)
    const isLate = toolkit === 'chromium' || toolkit === 'firefox'
    expect(await missedChanges(client, app, changes, { isLate })).toEqual([])
  })
}
