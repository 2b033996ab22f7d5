import { beforeAll, expect, test } from 'bun:test'
import { tools } from '@backlot/driver'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { connect } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'

const on = privateDesktop()

/** The tools of the specification, in its order. */
const specified = [
  'list_apps',
  'list_windows',
  'get_window_state',
  'get_accessibility_tree',
  'get_screen_size',
  'get_cursor_position',
  'get_config',
  'get_recording_state',
  'get_agent_cursor_state',
  'launch_app',
  'kill_app',
  'bring_to_front',
  'click',
  'double_click',
  'right_click',
  'drag',
  'type_text',
  'press_key',
  'hotkey',
  'set_value',
  'scroll',
  'move_cursor',
  'zoom',
  'page',
  'start_recording',
  'stop_recording',
  'replay_trajectory',
  'set_config',
  'start_session',
  'end_session',
  'set_agent_cursor_enabled',
  'set_agent_cursor_motion',
  'set_agent_cursor_style',
  'check_permissions',
  'check_for_update',
]

const set = async (value: string) => {
  expect(await on().run(driverCommand('config', 'set', 'extensions', value))).toMatchObject({ status: 0 })
}

beforeAll(() => set('false'), 30_000)

interface Listed {
  readonly name: string
  readonly inputSchema: { readonly properties?: Readonly<Record<string, object>> }
}

test(
  'without extensions the tools are the 35 of the specification, in its order, and fit in 20 KB',
  proving(['driver.server.specified-35'], async () => {
    for (const flags of [[], ['--direct']]) {
      await using client = await connect(on(), ...flags)
      const listed = (await client.client.listTools()).tools as unknown as Listed[]
      const names = listed.map(({ name }) => name)
      expect(names).toEqual(specified)
      expect(names).toEqual(tools.filter(({ attributes }) => !attributes.extension).map(({ name }) => name))
      expect(Buffer.byteLength(JSON.stringify({ tools: listed }))).toBeLessThanOrEqual(20 * 1024)
      const state = listed.find(({ name }) => name === 'get_window_state')
      expect(Object.keys(state?.inputSchema.properties ?? {})).toEqual([
        'pid',
        'window_id',
        'capture_mode',
        'query',
        'screenshot_out_file',
      ])
    }
    const { stdout } = await on().backlot(['list-tools'])
    expect(stdout).not.toContain('clipboard_read')
  }),
)

test('a hidden tool is an unknown one, and a hidden argument too', async () => {
  for (const flags of [[], ['--direct']]) {
    await using client = await connect(on(), ...flags)
    const tool = await client.call('clipboard_read')
    expect(tool).toMatchObject({ isError: true, structured: { code: 'unknown_tool' } })
    expect(tool.text).not.toContain('clipboard_write')
    const argument = await client.call('get_window_state', { pid: 1, window_id: 1, max_elements: 5 })
    expect(argument).toMatchObject({
      isError: true,
      structured: { code: 'unknown_argument', argument: 'max_elements' },
    })
    expect(argument.text).not.toContain('include_screenshot')
  }
  expect(await on().backlot(['describe', 'clipboard_read'])).toMatchObject({ status: 64 })
})

test('an argument that is hidden keeps its default, and with extensions all are there', async () => {
  await set('true')
  await using client = await connect(on())
  const listed = (await client.client.listTools()).tools as unknown as Listed[]
  expect(listed.map(({ name }) => name)).toEqual(tools.map(({ name }) => name))
  expect(JSON.stringify(listed)).not.toContain('"extension"')
  await client.ask('clipboard_read')
  await set('false')
  expect(await client.call('clipboard_read')).toMatchObject({ structured: { code: 'unknown_tool' } })
})
