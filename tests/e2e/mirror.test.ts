import { afterAll, beforeAll, expect, test } from 'bun:test'
import { missedChanges } from '../support/changes.ts'
import { startChanging } from '../support/changing.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { element, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on(), '--direct')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

test('each change that a GTK 3 application makes is in the next look', async () => {
  await using app = await startChanging(on(), client, 'gtk3')
  expect(await missedChanges(client, app, 24, { isLate: false })).toEqual([])
})

test('no change that a page makes in Chromium is missed', async () => {
  await using app = await startChanging(on(), client, 'chromium', 200)
  expect(await missedChanges(client, app, 16, { isLate: true })).toEqual([])
})

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
})

for (const toolkit of ['gtk3', 'qt5'] as const) {
  test(`a modal dialog in ${toolkit} is read and answered, and what it covers is still read`, async () => {
    await using app = await startChanging(on(), client, toolkit)
    const target = { pid: app.pid, window_id: app.window_id }
    await app.tell('asking')
    const { element_index } = await element(client, target, 'Ask')
    expect((await client.call('click', { ...target, element_index })).isError).toBe(false)
    const dialog = await until('the dialog', async () =>
      (await windowsOf(client, app.pid)).find(({ title }) => title === 'Question'),
    )
    const behind = await client.ask<{ tree_markdown: string }>('get_window_state', { ...target, capture_mode: 'ax' })
    expect(behind.tree_markdown).toContain('"Item 0"')
    const inDialog = { pid: app.pid, window_id: dialog.window_id }
    const ok = await element(client, inDialog, 'OK')
    expect((await client.call('click', { ...inDialog, element_index: ok.element_index })).isError).toBe(false)
    await app.journal.waitFor('the answer', ({ type }) => type === 'answered')
    await app.tell('say', 'Answered')
    const after = await client.ask<{ tree_markdown: string }>('get_window_state', { ...target, capture_mode: 'ax' })
    expect(after.tree_markdown).toContain('"Answered"')
  })

  test(`a flood of events from ${toolkit} is waited for as long as is configured, and each look is of its moment`, async () => {
    await using app = await startChanging(on(), client, toolkit)
    await using other = await startChanging(on(), client, 'gtk3')
    const look = async ({ pid, window_id }: { pid: number; window_id: number }) =>
      (await client.ask<{ tree_markdown: string }>('get_window_state', { pid, window_id, capture_mode: 'ax' }))
        .tree_markdown
    const poured = async (): Promise<number> => Number(/"Flood (\d+)"/.exec(await look(app))?.[1])
    expect((await on().run(driverCommand('config', 'set', 'observe_timeout_ms', '150'))).status).toBe(0)
    await app.tell('flood', true)
    const first = await poured()
    expect(first).toBeGreaterThan(0)
    expect(await poured()).toBeGreaterThan(first)
    await other.tell('say', 'Beside the flood')
    expect(await look(other)).toContain('"Beside the flood"')
    const target = { pid: app.pid, window_id: app.window_id }
    // Where the fixture has no processor for a moment it does not flood, and what is told of that is true.
    await until('a look that the flood does not let settle', async () => {
      const { element_index } = await element(client, target, 'Item 0')
      const { structured } = await client.call('click', { ...target, element_index, observe: true })
      return (structured.observation as { settled?: boolean } | undefined)?.settled === false
    })
    await app.tell('flood', false)
    await app.tell('say', 'Dry')
    expect(await look(app)).toContain('"Dry"')
  })
}
