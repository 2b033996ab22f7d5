import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3, startXterm, typedInto } from '../support/applications.ts'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand, openSocket, openStdio, socketOf } from '../support/driver.ts'
import { listedWindow } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let app: Application
let proxied: McpClient

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  proxied = await connect(on())
  await proxied.ask('get_config')
})

afterAll(async () => {
  await proxied?.[Symbol.asyncDispose]()
})

const callsUnderWay = async (): Promise<number> =>
  JSON.parse((await on().run(driverCommand('status'))).stdout).calls_under_way

/** Starts a call that nothing ends within the test but its cancellation, and cancels it once `isUnderWay`. */
const cancelled = async (
  { client }: McpClient,
  name: string,
  args: Record<string, unknown>,
  isUnderWay: () => Promise<boolean>,
): Promise<void> => {
  const caller = new AbortController()
  const call = client.callTool({ name, arguments: args }, undefined, { signal: caller.signal, timeout: 600_000 })
  const ended = call.then(
    () => 'answered',
    () => 'given up',
  )
  await until('the call to be under way', isUnderWay)
  caller.abort()
  expect(await ended).toBe('given up')
}

/** A look at an application that stands still, with more patience than the test has. */
const endlessLook = () => ({ pid: app.pid, window_id: app.windowId, capture_mode: 'ax', timeout_ms: 60_000 })

test('a call that an MCP client cancels ends in the daemon, and the next ones are answered', async () => {
  process.kill(app.pid, 'SIGSTOP')
  try {
    await cancelled(proxied, 'get_window_state', endlessLook(), async () => (await callsUnderWay()) === 1)
    await until('the daemon to have no call under way', async () => (await callsUnderWay()) === 0)
    await proxied.ask('get_screen_size')
    await proxied.ask('list_windows')
  } finally {
    process.kill(app.pid, 'SIGCONT')
  }
  const { elements } = await proxied.ask<{ elements: unknown[] }>('get_window_state', {
    ...endlessLook(),
    timeout_ms: 10_000,
  })
  expect(elements).not.toBeEmpty()
})

test('a launch is given up, in the daemon as in the process itself', async () => {
  const wait = { name: 'sleep', additional_arguments: ['600'] }
  await cancelled(proxied, 'launch_app', wait, async () => (await callsUnderWay()) === 1)
  await until('the daemon to have no call under way', async () => (await callsUnderWay()) === 0)
  await using direct = await connect(on(), '--direct')
  await direct.ask('get_config')
  await cancelled(direct, 'launch_app', wait, async () => true)
  await direct.ask('get_screen_size')
})

test('a request that waits for its turn can be cancelled too', async () => {
  process.kill(app.pid, 'SIGSTOP')
  try {
    await using client = await openSocket(socketOf(on()))
    const look = { method: 'call', name: 'get_window_state', args: endlessLook() }
    for (let id = 1; id <= 64; id++) client.send({ id, ...look })
    client.send({ id: 65, method: 'call', name: 'set_config', args: { element_tags: 'short', session: 'waiting' } })
    client.send({ method: 'cancel', cancel: 65 })
    expect(await client.next()).toMatchObject({ id: 65, ok: false, code: 'cancelled' })
    for (let id = 1; id <= 64; id++) client.send({ method: 'cancel', cancel: id })
    for (let id = 1; id <= 64; id++) expect(await client.next()).toMatchObject({ ok: false, code: 'cancelled' })
  } finally {
    process.kill(app.pid, 'SIGCONT')
  }
  expect(await proxied.ask('get_config', { session: 'waiting' })).toMatchObject({ element_tags: 'long' })
})

test('a cancellation is read while as many calls run as may at once', async () => {
  process.kill(app.pid, 'SIGSTOP')
  try {
    await using client = await openSocket(socketOf(on()))
    const look = { method: 'call', name: 'get_window_state', args: endlessLook() }
    for (let id = 1; id <= 65; id++) client.send({ id, ...look })
    await until('all to run', async () => (await callsUnderWay()) === 64)
    client.send({ method: 'cancel', cancel: 65 })
    expect(await client.next()).toMatchObject({ id: 65, ok: false, code: 'cancelled' })
    client.send({ method: 'cancel', cancel: 7 })
    expect(await client.next()).toMatchObject({ id: 7, ok: false, code: 'cancelled' })
  } finally {
    process.kill(app.pid, 'SIGCONT')
  }
})

test('who hangs up has nothing done that was still to begin', async () => {
  process.kill(app.pid, 'SIGSTOP')
  const client = await openSocket(socketOf(on()))
  try {
    client.send({ method: 'call', name: 'get_window_state', args: endlessLook() })
    client.send({ method: 'call', name: 'set_config', args: { element_tags: 'short', session: 'late' } })
    client.send({ method: 'call', name: 'set_agent_cursor_enabled', args: { enabled: true } })
    await until('the look to be under way', async () => (await callsUnderWay()) === 1)
    client.terminate()
    await until('the call to be over', async () => (await callsUnderWay()) === 0)
  } finally {
    process.kill(app.pid, 'SIGCONT')
  }
  const { sessions } = JSON.parse((await on().run(driverCommand('status'))).stdout)
  expect(sessions).not.toContain('late')
})

test('typing stops between two characters when the host of the MCP server hangs up', async () => {
  const terminal = await startXterm(on())
  const { pid, window_id } = await listedWindow(proxied, terminal.windowId)
  for (const flags of [[], ['--direct']]) {
    const before = typedInto(terminal).length
    await using host = openStdio(on(), backlotCommand('mcp', ...flags))
    const params = { name: 'type_text', arguments: { pid, window_id, text: 'a'.repeat(600), delay_ms: 50 } }
    host.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    await until('some characters', () => typedInto(terminal).length > before + 3)
    host.end()
    expect(await host.next()).toMatchObject({ id: 1, result: { structuredContent: { code: 'cancelled' } } })
    await host.closed
    await proxied.ask('type_text', { pid, window_id, text: 'z' })
    await until('the next text', () => typedInto(terminal).includes('z', before))
    expect([flags, typedInto(terminal).indexOf('z', before) - before < 600]).toEqual([flags, true])
  }
})

test('typing that is cancelled stops between two characters', async () => {
  const terminal = await startXterm(on())
  const { pid, window_id } = await listedWindow(proxied, terminal.windowId)
  const text = 'a'.repeat(600)
  await cancelled(
    proxied,
    'type_text',
    { pid, window_id, text, delay_ms: 50 },
    async () => typedInto(terminal).length > 3,
  )
  // Typed after it on the same keyboard: what stands before it is all that was sent.
  await proxied.ask('type_text', { pid, window_id, text: 'z' })
  await until('the next text', () => typedInto(terminal).includes('z'))
  expect(typedInto(terminal).indexOf('z')).toBeLessThan(text.length)
  expect(typedInto(terminal).at(-1)).toBe('z'.charCodeAt(0))
})
