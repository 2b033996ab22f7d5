import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import type { Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'

const on = privateDesktop()
let client: McpClient
let target: Target

beforeAll(async () => {
  const app = await startGtk3(on(), 'person')
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

test('programs that were written for such drivers find the fields and words that they read', async () => {
  expect(await client.ask<object>('get_config')).toMatchObject({ platform: 'linux' })
  const corners = { x1: 0, y1: 0, x2: 40, y2: 40 }
  expect(await client.ask<object>('zoom', { ...target, ...corners })).toMatchObject({ format: 'jpeg' })
  await client.ask('set_agent_cursor_enabled', { cursor_id: 'one', enabled: false })
  const motion = await client.call('set_agent_cursor_motion', { cursor_id: 'two', arc_size: 0.5, cursor_label: 'Two' })
  expect(motion.text).toContain('motion')
  expect((await client.call('set_agent_cursor_motion')).text).toContain('motion')
  const { cursors } = await client.ask<{ cursors: object[] }>('get_agent_cursor_state', { cursor_id: 'two' })
  expect(cursors).toMatchObject([
    { config: { cursor_id: 'one', enabled: false, icon: 'arrow' } },
    { config: { cursor_id: 'two', enabled: true, arc_size: 0.5, label: 'Two' } },
    { config: { cursor_id: 'default' } },
  ])
  const refused = await client.call('page', { ...target, action: 'fly' })
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('Unknown action')])
})
