import { afterAll, beforeAll, expect, test } from 'bun:test'
import { missedChanges } from '../support/changes.ts'
import { startChanging } from '../support/changing.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on(), '--direct')
}, 60_000)

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
}, 30_000)

test('each change that a GTK 3 application makes is in the next look', async () => {
  await using app = await startChanging(on(), client, 'gtk3')
  expect(await missedChanges(client, app, 24, { isLate: false })).toEqual([])
}, 60_000)

test('no change that a page makes in Chromium is missed', async () => {
  await using app = await startChanging(on(), client, 'chromium', 200)
  expect(await missedChanges(client, app, 16, { isLate: true })).toEqual([])
}, 120_000)

test('an application that is stopped costs the time of the call, and others none', async () => {
  await using stopped = await startChanging(on(), client, 'qt5')
  await using other = await startChanging(on(), client, 'gtk3')
  const look = (app: { pid: number; window_id: number }, timeout_ms: number) =>
    client.call('get_window_state', { pid: app.pid, window_id: app.window_id, capture_mode: 'ax', timeout_ms })
  await look(stopped, 5_000)
  process.kill(stopped.pid, 'SIGSTOP')
  try {
    const hanging = look(stopped, 20_000)
    await other.tell('say', 'Still here')
    expect((await look(other, 5_000)).structured.tree_markdown).toContain('"Still here"')
    process.kill(stopped.pid, 'SIGCONT')
    expect((await hanging).structured.tree_markdown).toContain('"Item 0"')
    process.kill(stopped.pid, 'SIGSTOP')
    const { structured } = await look(stopped, 100)
    expect(structured.partial).toContain('did not answer within 100 ms')
  } finally {
    process.kill(stopped.pid, 'SIGCONT')
  }
}, 120_000)
