import { expect, test } from 'bun:test'
import { tools } from '@backlot/driver'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand, openSocket } from '../support/driver.ts'
import { connect } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
const readOnly = tools.filter((tool) => tool.attributes.readOnly).map((tool) => tool.name)
const namesOf = (listed: { tools: { name: string }[] }) => listed.tools.map((tool) => tool.name)

for (const how of [[], ['--direct']]) {
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
}, 30_000)
