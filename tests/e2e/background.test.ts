/** What reaches a completely covered window, under openbox; other window managers and placings are in the soak tests. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { privateDesktop } from '../support/desktop.ts'
import { rowsOf } from '../support/matrix/matrix.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'

const on = privateDesktop()
let client: McpClient
beforeAll(async () => {
  client = await connect(on())
})
afterAll(() => client?.[Symbol.asyncDispose]())

for (const toolkit of ['GTK 3', 'Qt 5', 'Qt 6', 'Chromium', 'xterm']) {
  test(`every action reaches a covered window of ${toolkit}, and the person notices nothing`, async () => {
    const { covered = {} } = await rowsOf(on(), client, toolkit, ['covered'])
    const missing = Object.entries(covered).filter(([, { outcome }]) => outcome !== 'arrived' && outcome !== 'absent')
    expect(missing).toEqual([])
  }, 300_000)
}
