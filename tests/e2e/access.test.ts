import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { tools } from '@backlot/driver'
import { startXterm } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand, openSocket } from '../support/driver.ts'
import { connect } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
const readOnly = tools.filter((tool) => tool.attributes.readOnly).map((tool) => tool.name)
const namesOf = (listed: { tools: { name: string }[] }) => listed.tools.map((tool) => tool.name)

/** Expects that a read-only edge refused to write `file`. */
const refusedToWrite = (structured: Readonly<Record<string, unknown>>, file: string): void => {
  expect(structured).toMatchObject({
    code: 'argument_not_allowed',
    tool: 'get_window_state',
    argument: 'screenshot_out_file',
    message: expect.stringMatching(/--read-only.*Leave it out/),
  })
  expect(existsSync(file)).toBe(false)
}

for (const how of [[], ['--direct']]) {
  test(`mcp ${how.join(' ')} --read-only writes no file that a call names`, async () => {
    const { pid, windowId: window_id } = await startXterm(on())
    const file = on().path('window.png')
    const target = { pid, window_id, capture_mode: 'vision' }
    await using mcp = await connect(on(), '--read-only', ...how)
    refusedToWrite((await mcp.call('get_window_state', { ...target, screenshot_out_file: file })).structured, file)
    const { tools: listed } = await mcp.client.listTools()
    const state = listed.find((tool) => tool.name === 'get_window_state')
    expect(Object.keys(state?.inputSchema.properties ?? {})).not.toContain('screenshot_out_file')
    expect((await mcp.call('get_window_state', { ...target, screenshot_out_file: null })).image).not.toBeNull()
  })

  test(`mcp ${how.join(' ')} --read-only neither lists nor calls what changes something`, async () => {
    await using mcp = await connect(on(), '--read-only', ...how)
    expect(namesOf(await mcp.client.listTools())).toEqual(readOnly)
    const refused = await mcp.call('kill_app', { pid: 1 })
    expect(refused.structured).toMatchObject({ code: 'tool_not_allowed', tool: 'kill_app', read_only: true })
    await mcp.ask('get_screen_size')
    expect((await mcp.call('frobnicate')).structured.code).toBe('unknown_tool')
  })

  test(`mcp ${how.join(' ')} --allow lists and calls what it names, within --read-only`, async () => {
    await using mcp = await connect(on(), '--allow', 'get_config,set_config', '--allow', 'click', ...how)
    expect(namesOf(await mcp.client.listTools())).toEqual(['get_config', 'click', 'set_config'])
    expect((await mcp.call('get_screen_size')).structured.code).toBe('tool_not_allowed')
    await mcp.ask('get_config')
    await using both = await connect(on(), '--allow', 'get_config,set_config', '--read-only', ...how)
    expect(namesOf(await both.client.listTools())).toEqual(['get_config'])
    expect((await both.call('set_config')).structured.code).toBe('tool_not_allowed')
  })
}

test('a daemon keeps its own access, whatever the proxy in front of it permits', async () => {
  const socket = on().path('restricted.sock')
  const daemon = on().start(
    driverCommand('serve', '--socket', socket, '--read-only', '--allow', 'get_config,set_config,get_screen_size'),
  )
  await using client = await until('the daemon', () => openSocket(socket).catch(() => null))
  client.send({ method: 'list' })
  expect((await client.next()).result).toMatchObject([{ name: 'get_screen_size' }, { name: 'get_config' }])
  client.send({ method: 'describe', name: 'set_config' })
  expect(await client.next()).toMatchObject({ ok: false, code: 'tool_not_allowed' })
  await using mcp = await connect(on(), '--socket', socket)
  expect(namesOf(await mcp.client.listTools())).toEqual(['get_screen_size', 'get_config'])
  expect((await mcp.call('set_config')).structured.code).toBe('tool_not_allowed')
  await using narrower = await connect(on(), '--socket', socket, '--allow', 'get_config,click')
  expect(namesOf(await narrower.client.listTools())).toEqual(['get_config'])
  const { stdout, status } = await on().backlot(['click', '{"pid":1}', '--socket', socket])
  expect([status, JSON.parse(stdout).code]).toEqual([1, 'tool_not_allowed'])
  daemon.kill()
  await daemon.exited
})

test('a read-only daemon writes no file that a shell call names, and the shell form itself does', async () => {
  const socket = on().path('read-only.sock')
  const daemon = on().start(driverCommand('serve', '--socket', socket, '--read-only'))
  await using _client = await until('the daemon', () => openSocket(socket).catch(() => null))
  const { pid, windowId: window_id } = await startXterm(on())
  const file = on().path('window.png')
  const shell = (args: object, ...flags: string[]) =>
    on().backlot(['get_window_state', JSON.stringify({ pid, window_id, ...args }), '--socket', socket, ...flags])
  const refused = await shell({ screenshot_out_file: file })
  expect(refused.status).toBe(1)
  refusedToWrite(JSON.parse(refused.stdout), file)
  const done = await shell({ capture_mode: 'vision' }, '--screenshot-out-file', file)
  expect([done.status, JSON.parse(done.stdout).screenshot_file_path, existsSync(file)]).toEqual([0, file, true])
  daemon.kill()
  await daemon.exited
})
