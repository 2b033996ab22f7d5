import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Fields, startComputer, type TestComputer } from '../support/computer.ts'
import { processesWith } from '../support/traces.ts'
import { until } from '../support/until.ts'

let computer: TestComputer

beforeAll(async () => {
  computer = await startComputer()
})

afterAll(() => computer[Symbol.asyncDispose]())

/** What a process was started with; empty where it has ended. */
const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

const xServer = /^\S*\/(Xtigervnc|Xvnc|Xvfb) /

/** Pid of a part of the desktop of now. */
const part = async (name: RegExp): Promise<number> => {
  const mark = (await computer.shell('echo $BACKLOT_DESKTOP')).trim()
  return until(`${name}`, () => processesWith(`BACKLOT_DESKTOP=${mark}`).find((pid) => name.test(commandOf(pid))))
}

const status = async () => (await (await fetch(`${computer.url}/status`)).json()) as Fields
const title = async () => (await computer.ask('get_active_window_title')).result
const isThere = (pid: number): boolean => commandOf(pid) !== ''

/** A terminal that keeps what is typed into it. */
const terminal = async (name: string) => {
  const file = join(computer.home, name)
  const script = `stty raw -echo; touch ${file}; exec cat > ${file}`
  const { pid } = await computer.ask('launch', { app: 'xterm', args: ['-T', name, '-e', 'sh', '-c', script] })
  await until(`"${name}" to be active`, async () => (await title()) === name)
  await until('its program', () => Bun.file(file).exists())
  const { window_id } = await computer.ask('get_current_window_id')
  return { pid: Number(pid), window_id: Number(window_id), text: () => readFile(file, 'utf8') }
}

test('a window manager that is killed comes back, and the windows stay', async () => {
  const typed = await terminal('kept')
  const [manager, screen] = [await part(/^\S*\/openbox /), await part(xServer)]
  const id = `0x${typed.window_id.toString(16)}`
  process.kill(manager, 'SIGKILL')
  await until('another one', async () => {
    const pid = await part(/^\S*\/openbox /)
    return pid !== manager && isThere(pid)
  })
  // The frame of the first went with it.
  await until('a frame of its own', async () => {
    const said = await computer.shell(`xwininfo -children -id ${id}`)
    const [root, parent] = [/Root window id: (\S+)/.exec(said)?.[1], /Parent window id: (\S+)/.exec(said)?.[1]]
    return parent !== undefined && parent !== root
  })
  await until('its list', async () => (await computer.shell('xprop -root _NET_CLIENT_LIST')).includes(id))
  expect(isThere(typed.pid)).toBe(true)
  expect(await part(xServer)).toBe(screen)
  expect(computer.log()).toContain('the window manager ended with signal SIGKILL; it is started again in 250 ms')

  const { window_id } = typed
  await computer.ask('activate_window', { window_id })
  expect(await title()).toBe('kept')
  await computer.ask('type_text', { text: 'still here' })
  await until('the text', async () => (await typed.text()) === 'still here')
  await computer.ask('set_window_position', { window_id, x: 210, y: 140 })
  expect(await computer.ask('get_window_position', { window_id })).toMatchObject({ x: 210, y: 140 })
  await computer.ask('maximize_window', { window_id })
  expect(await computer.shell(`xprop -id ${id} _NET_WM_STATE`)).toContain('_NET_WM_STATE_MAXIMIZED_VERT')
  expect((await status()).features).toContain('windows')
})

for (const [name, program] of [
  ['x_server', xServer],
  ['session_bus', /^\S*\/dbus-daemon .*session-bus\.conf/],
  ['accessibility_bus', /^\S*\/at-spi-bus-launcher /],
] as const) {
  test(`a new desktop follows one whose ${name} is killed`, async () => {
    const typed = await terminal(`before-${name}`)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${computer.url}/mcp`)))
    expect((await client.callTool({ name: 'list_windows', arguments: {} })).isError).not.toBe(true)
    const shell = (await (await fetch(`${computer.url}/pty`, { method: 'POST', body: '{}' })).json()) as { pid: number }
    const filming = await (await fetch(`${computer.url}/film`, { method: 'POST', body: '{}' })).json()
    expect(filming).toMatchObject({ running: true })
    // As browsers do, it erases its environment.
    const bare = await computer.ask('launch', { app: 'env', args: ['-i', 'sleep', '1234'] })
    const screen = await part(xServer)
    process.kill(await part(program), 'SIGKILL')

    await until('the status to say so', async () => (await status()).phase === 'starting')
    expect(await status()).toMatchObject({ status: 'ok', phase: 'starting', features: [] })
    const { commands } = (await (await fetch(`${computer.url}/commands`)).json()) as {
      commands: Record<string, Fields>
    }
    expect(commands.left_click?.unavailable).toBe(
      `the ${name} of the desktop ended with signal SIGKILL; a new desktop starts`,
    )
    expect(isThere(typed.pid)).toBe(false)
    expect([isThere(shell.pid), isThere(Number(bare.pid))]).toEqual([false, false])
    // What is asked meanwhile waits for it.
    expect(await computer.ask('get_screen_size')).toMatchObject({ size: { width: 1280, height: 800 } })
    const { phase, features } = await status()
    expect([phase, features]).toEqual(['ready', expect.arrayContaining(['display', 'input', 'accessibility', 'view'])])
    expect(isThere(computer.pid) && !isThere(screen)).toBe(true)

    const after = await terminal(`after-${name}`)
    await computer.ask('type_text', { text: 'Grüße' })
    await until('the text', async () => (await after.text()) === 'Grüße')
    process.kill(after.pid)
    // Its session was that of another display.
    await expect(client.callTool({ name: 'list_windows', arguments: {} })).rejects.toThrow('Session not found')
    const next = new Client({ name: 'test', version: '1' })
    await next.connect(new StreamableHTTPClientTransport(new URL(`${computer.url}/mcp`)))
    expect((await next.callTool({ name: 'list_windows', arguments: {} })).isError).not.toBe(true)
    // A film is of one display.
    const { films } = (await (await fetch(`${computer.url}/film`)).json()) as { films: Fields[] }
    expect(films.map(({ running }) => running)).not.toContain(true)
    const film = (await (await fetch(`${computer.url}/film`, { method: 'POST', body: '{}' })).json()) as { id: string }
    const stopped = await fetch(`${computer.url}/film/${film.id}`, { method: 'DELETE' })
    expect(await stopped.json()).toMatchObject({ running: false, film: { error: null } })
    await next.close()
    await client.close()
  })
}

test('a server whose desktop starts anew ends when it is told to', async () => {
  process.kill(await part(xServer), 'SIGKILL')
  await until('the status to say so', async () => (await status()).phase === 'starting')
  expect(await computer.end()).toBe(0)
})

test('what erases its environment ends with the server', async () => {
  await using other = await startComputer()
  const { pid } = await other.ask('launch', { app: 'env', args: ['-i', 'sleep', '1234'] })
  expect(await other.end()).toBe(0)
  expect(isThere(Number(pid))).toBe(false)
})
