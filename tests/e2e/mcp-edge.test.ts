import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { tools } from '@backlot/driver'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop } from '../support/desktop.ts'
import { type Lines, openStdio } from '../support/driver.ts'
import { connect } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'

const on = privateDesktop()
const start = (...flags: string[]) => openStdio(on(), backlotCommand('mcp', ...flags))
const ask = async (server: Lines, id: number, method: string, params?: unknown) => {
  server.send({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) })
  return server.next()
}

test(
  'initialize says who it is and how to go on',
  proving(['driver.server.mcp-stdio'], async () => {
    await using server = start()
    const { result } = await ask(server, 1, 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a client', version: '1' },
    })
    expect(result).toMatchObject({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'backlot', version: '0.1.0' },
      instructions: expect.stringContaining('get_window_state'),
    })
  }),
)

test('an initialize that lacks params, capabilities or a known version is answered', async () => {
  const initializes: [unknown, string][] = [
    [undefined, '2025-11-25'],
    [{}, '2025-11-25'],
    [{ protocolVersion: '2024-11-05' }, '2024-11-05'],
    [{ protocolVersion: '1999-01-01', capabilities: null, clientInfo: { name: 'old' } }, '2025-11-25'],
  ]
  for (const [params, protocolVersion] of initializes) {
    await using server = start()
    expect(await ask(server, 1, 'initialize', params)).toMatchObject({ id: 1, result: { protocolVersion } })
  }
})

test('what is no message is refused, and the server goes on', async () => {
  await using server = start()
  server.write('this is garbage\n')
  expect(await server.next()).toMatchObject({ id: null, error: { code: -32700 } })
  server.write(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d, 10]))
  expect(await server.next()).toMatchObject({ id: null, error: { code: -32700 } })
  server.write('42\n')
  expect(await server.next()).toMatchObject({ id: null, error: { code: -32600 } })
  expect(await ask(server, 7, 'no/such/method')).toMatchObject({ id: 7, error: { code: -32601 } })
  server.write('\n\n')
  expect(await ask(server, 8, 'ping')).toEqual({ jsonrpc: '2.0', id: 8, result: {} })
})

test('a line that arrives in pieces, and several in one piece, are read', async () => {
  await using server = start()
  server.write('{"jsonrpc":"2.0","id":1,')
  server.write('"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n{"id":3,"method":"ping"}\n')
  expect([(await server.next()).id, (await server.next()).id, (await server.next()).id]).toEqual([1, 2, 3])
})

test('a large line is read, and one over the limit is refused', async () => {
  await using server = start('--direct')
  const text = 'x'.repeat(4_000_000)
  expect(await ask(server, 1, 'tools/call', { name: 'get_config', arguments: { text } })).toMatchObject({
    result: { isError: true, structuredContent: { code: 'unknown_argument' } },
  })
  server.write(`${'x'.repeat(17 * 1024 * 1024)}\n`)
  expect(await server.next()).toMatchObject({ id: null, error: { code: -32700 } })
  expect(await ask(server, 2, 'ping')).toMatchObject({ id: 2 })
})

test('the end of standard input ends the server after the answers that are due', async () => {
  await using server = start()
  for (let id = 1; id <= 5; id++) {
    server.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'get_config', arguments: {} } })
  }
  server.end()
  await server.closed
  const ids = []
  for (let n = 0; n < 5; n++) ids.push((await server.next()).id)
  expect(ids.sort()).toEqual([1, 2, 3, 4, 5])
  expect(server.process.exitCode).toBe(0)
})

test('a cancelled call is not answered, and the next one is', async () => {
  await using server = start()
  await ask(server, 1, 'initialize')
  server.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const never = { name: 'launch_app', arguments: { name: 'sleep', additional_arguments: ['600'] } }
  server.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: never })
  server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
  expect(await ask(server, 3, 'ping')).toMatchObject({ id: 3, result: {} })
  expect(await ask(server, 4, 'tools/call', { name: 'get_config' })).toMatchObject({ id: 4 })
})

/** The protocol's own, for hints that are not given. */
const presumed = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }
const looks = { ...presumed, readOnlyHint: true, openWorldHint: false }
const actsInWindows = presumed
const changes = { ...presumed, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** What hosts are told of each tool. */
const hints: Readonly<Record<string, typeof presumed>> = {
  list_apps: looks,
  list_windows: looks,
  get_window_state: looks,
  get_accessibility_tree: looks,
  get_screen_size: looks,
  get_cursor_position: looks,
  get_config: looks,
  get_recording_state: looks,
  get_agent_cursor_state: looks,
  launch_app: { ...changes, openWorldHint: true, idempotentHint: false },
  kill_app: { ...changes, destructiveHint: true },
  bring_to_front: changes,
  click: actsInWindows,
  double_click: actsInWindows,
  right_click: actsInWindows,
  drag: actsInWindows,
  type_text: actsInWindows,
  press_key: actsInWindows,
  hotkey: actsInWindows,
  set_value: { ...actsInWindows, idempotentHint: true },
  scroll: actsInWindows,
  move_cursor: changes,
  zoom: looks,
  page: actsInWindows,
  start_recording: { ...changes, idempotentHint: false },
  stop_recording: changes,
  replay_trajectory: actsInWindows,
  set_config: changes,
  start_session: changes,
  end_session: changes,
  set_agent_cursor_enabled: changes,
  set_agent_cursor_motion: changes,
  set_agent_cursor_style: changes,
  check_permissions: looks,
  check_for_update: { ...looks, openWorldHint: true },
  run_steps: actsInWindows,
  wait_for: looks,
  invoke_menu: actsInWindows,
  set_window_frame: changes,
  clipboard_read: looks,
  clipboard_write: { ...changes, destructiveHint: true },
  get_desktop_state: looks,
}

test('each tool is listed as it is declared, with what it may change', async () => {
  await using mcp = await connect(on())
  const { tools: listed } = await mcp.client.listTools()
  expect(listed.map((tool) => tool.name)).toEqual(tools.map((tool) => tool.name))
  for (const [index, tool] of tools.entries()) {
    const { inputSchema, description } = listed[index] ?? {}
    expect(description).toBe(tool.description)
    const declared = JSON.parse(JSON.stringify(tool.arguments.properties))
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual(Object.keys(declared))
    // What is listed leaves out only what says nothing to an agent, as the greatest integer that there is.
    expect(declared).toMatchObject(inputSchema?.properties ?? {})
  }
  // Two hints decide what a host asks the person; `describe` of a tool tells the others, too.
  for (const { name, annotations } of listed) {
    const { readOnlyHint, destructiveHint } = hints[name] ?? presumed
    expect([name, { ...presumed, ...annotations }]).toEqual([name, { ...presumed, readOnlyHint, destructiveHint }])
    const whole = JSON.parse((await on().backlot(['describe', name])).stdout) as { annotations: object }
    expect([name, { ...presumed, ...whole.annotations }]).toEqual([name, hints[name] ?? presumed])
  }
})

test('the tool list with all extensions takes at most 20 KB', async () => {
  await using mcp = await connect(on())
  const { tools: listed } = await mcp.client.listTools()
  expect(Buffer.byteLength(JSON.stringify({ tools: listed }))).toBeLessThanOrEqual(20 * 1_024)
})

const inProcess = async (flags: readonly string[], env: Record<string, string>): Promise<void> => {
  const socket = on().path('none.sock')
  await using server = openStdio(on(), backlotCommand('mcp', '--socket', socket, ...flags), env)
  const { result } = await ask(server, 1, 'tools/call', { name: 'get_screen_size' })
  expect(result).toMatchObject({ structuredContent: { width: 1280 } })
  server.end()
  await server.closed
  expect(existsSync(socket)).toBe(false)
}

test(
  '--no-daemon-relaunch and --direct run the tools in the process',
  proving(['driver.daemon.no-relaunch-flag', 'driver.option.no-daemon-relaunch'], async () => {
    await inProcess(['--no-daemon-relaunch'], {})
    await inProcess(['--direct'], {})
  }),
)

test(
  'DRIVER_MCP_NO_RELAUNCH=1 runs the tools in the process',
  proving(['driver.daemon.no-relaunch-env'], () => inProcess([], { DRIVER_MCP_NO_RELAUNCH: '1' })),
)
