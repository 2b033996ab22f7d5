import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { tools } from '@backlot/driver'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop } from '../support/desktop.ts'
import { connect } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { pythonWith } from '../support/python-with.ts'

const on = privateDesktop()
const names = tools.map((tool) => tool.name)
const screen = { width: 1280, height: 800, scale_factor: 1 }

/** Fetched from their registries at the first run, and kept. */
const versions = { inspector: '@modelcontextprotocol/inspector@2.12.0', python: 'mcp==2.3.0' }
/** These hosts hand on little of their environment; what leads to the desktop is given to them, as in their settings. */
const variables = ['DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR', 'HOME']
const minutes = 5 * 60_000

test(
  'the official TypeScript client lists and calls the tools',
  proving(['driver.server.mcp-stdio', 'driver.auth.no-credentials'], async () => {
    await using mcp = await connect(on())
    expect(mcp.client.getServerVersion()).toMatchObject({ name: 'backlot' })
    expect((await mcp.client.listTools()).tools.map((tool) => tool.name)).toEqual(names)
    expect(await mcp.ask<object>('get_screen_size')).toEqual(screen)
    expect((await mcp.call('get_window_state', { pid: 1 })).structured.code).toBe('missing_argument')
    expect(await mcp.client.ping()).toEqual({})
  }),
)

test(
  'the official Inspector lists and calls the tools',
  async () => {
    const inspect = async (...method: string[]) => {
      const env = variables.flatMap((name) => ['-e', `${name}=${on().env[name] ?? ''}`])
      const child = Bun.spawn(
        [process.execPath, 'x', '--bun', versions.inspector, '--cli', ...env, ...backlotCommand('mcp'), ...method],
        { stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
      )
      return JSON.parse(await child.stdout.text())
    }
    const listed = await inspect('--method', 'tools/list')
    expect(listed.tools.map((tool: { name: string }) => tool.name)).toEqual(names)
    const called = await inspect('--method', 'tools/call', '--tool-name', 'get_screen_size')
    expect(called.structuredContent).toEqual(screen)
  },
  minutes,
)

test(
  'the official Python client lists and calls the tools',
  async () => {
    const fixture = join(import.meta.dir, '../support/fixtures/mcp_client.py')
    const { stdout, stderr } = await on().run([
      await pythonWith(versions.python),
      fixture,
      variables.join(','),
      ...backlotCommand('mcp'),
    ])
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      server: 'backlot',
      tools: names,
      called: screen,
      failed: [true, 'missing_argument'],
    })
  },
  minutes,
)
