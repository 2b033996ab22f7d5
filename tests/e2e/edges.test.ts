import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FailureCode } from '@backlot/contract/failure'
import { type Application, python, startGtk3 } from '../support/applications.ts'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand, type Lines, openSocket, openStdio, socketOf } from '../support/driver.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'

const on = privateDesktop()
let app: Application
let proxied: McpClient
let direct: McpClient
let socket: Lines

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  proxied = await connect(on())
  await proxied.call('get_config')
  direct = await connect(on(), '--direct')
  socket = await openSocket(socketOf(on()))
})

afterAll(async () => {
  await socket?.[Symbol.asyncDispose]()
  await proxied?.[Symbol.asyncDispose]()
  await direct?.[Symbol.asyncDispose]()
})

/** What every edge must agree on. */
interface Answer {
  readonly isError: boolean
  readonly text: string
  readonly structured: unknown
}

/** Fields that belong to one look alone, or to the edge that took it. */
const passing = new Set(['snapshot_id', 'element_token', 'screenshot_file_path', 'last_used'])

const settled = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(settled)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, field]) => (passing.has(name) ? [] : [[name, settled(field)]])),
  )
}

type Call = (name: string, args: Record<string, unknown>) => Promise<Answer>

const overMcp =
  (client: () => McpClient): Call =>
  async (name, args) => {
    const { isError, text, structured } = await client().call(name, args)
    return { isError, text, structured: settled(structured) }
  }

interface Raw {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent: unknown
}

const answerOf = ({ isError = false, content, structuredContent }: Raw): Answer => ({
  isError,
  text: content.flatMap((block) => block.text ?? []).join('\n'),
  structured: settled(structuredContent),
})

const overSocket: Call = async (name, args) => {
  socket.send({ id: 1, method: 'call', name, args })
  const { ok, result, error } = (await socket.next()) as { ok?: boolean; result?: Raw; error?: string }
  const answer = answerOf(result as Raw)
  expect(ok).toBe(!answer.isError)
  if (!ok) expect(error).toBe(answer.text)
  return answer
}

const overShell =
  (...flags: string[]): Call =>
  async (name, args) => {
    const { stdout, status } = await on().backlot(['call', name, JSON.stringify(args), '--raw', ...flags])
    const answer = answerOf(JSON.parse(stdout))
    expect(status === 0).toBe(!answer.isError)
    return answer
  }

const edges: readonly (readonly [string, Call])[] = [
  ['mcp --direct', overMcp(() => direct)],
  ['the socket', overSocket],
  ['the shell form', overShell()],
  ['the shell form --direct', overShell('--direct')],
]

const window = () => ({ pid: app.pid, window_id: app.windowId })

type Row = readonly [string, () => Record<string, unknown>]

/** Ways to go right, and how the text of each begins. */
const good: readonly (readonly [...Row, RegExp])[] = [
  ['list_apps', () => ({}), /^✅ /],
  ['list_windows', () => ({}), /^Found \d+ window/],
  ['list_windows', () => ({ pid: app.pid, on_screen_only: true }), /^Found \d+ window/],
  ['get_accessibility_tree', () => ({}), /^✅ /],
  ['get_screen_size', () => ({}), /^✅ /],
  ['get_cursor_position', () => ({}), /^✅ /],
  ['get_config', () => ({}), /^✅ /],
  ['check_permissions', () => ({ prompt: false }), /^✅ /],
  ['get_window_state', () => ({ ...window(), capture_mode: 'ax' }), /^window_id=\d+ pid=\d+ size=/],
  ['get_window_state', () => ({ ...window(), capture_mode: 'vision' }), /^window_id=\d+ pid=\d+ size=/],
  ['get_window_state', () => ({ ...window(), query: 'button' }), /^window_id=\d+ pid=\d+ size=/],
  ['set_config', () => ({ max_image_dimension: 0, session: 'edges' }), /^✅ /],
]

/** Ways to go wrong before anything is sent, and the code of each. */
const bad: readonly (readonly [...Row, FailureCode])[] = [
  ['get_window_state', () => ({ pid: app.pid }), 'missing_argument'],
  ['get_window_state', () => ({ ...window(), capture_mode: 'all' }), 'invalid_argument'],
  ['get_window_state', () => ({ ...window(), window_id: 1 }), 'window_not_found'],
  ['list_windows', () => ({ pid: 'x' }), 'invalid_argument'],
  ['list_windows', () => ({ process: 1 }), 'unknown_argument'],
  ['click', () => ({ pid: app.pid }), 'target_required'],
  ['click', () => ({ ...window(), x: 100_000, y: 1 }), 'point_outside_window'],
  ['press_key', () => ({ ...window(), key: 'nokey' }), 'unknown_key'],
  ['kill_app', () => ({ pid: 1 }), 'protected_process'],
  ['frobnicate', () => ({}), 'unknown_tool'],
]

const rows: readonly (readonly [...Row, RegExp | FailureCode])[] = [...good, ...bad]

for (const [name, args, expectation] of rows) {
  test(
    `${name} ${args.toString().slice(6)} is the same through every edge`,
    proving(['driver.shell.same-code-path', 'driver.shell.same-names', 'driver.daemon.same-semantics'], async () => {
      const expected = await overMcp(() => proxied)(name, args())
      expect(expected.isError).toBe(typeof expectation === 'string')
      if (typeof expectation !== 'string') expect(expected.text).toMatch(expectation)
      else expect(expected.structured).toMatchObject({ code: expectation, message: expected.text })
      expect(Object.keys(expected.structured as object)).not.toBeEmpty()
      for (const [edge, call] of edges) expect([edge, await call(name, args())]).toEqual([edge, expected])
    }),
  )
}

interface Status {
  readonly pid: number
  readonly calls: number
  readonly idle_timeout_s: number
}

/** What the daemon behind a socket says of itself; `undefined` where none runs. */
const statusAt = async (path: string): Promise<Status | undefined> => {
  const { status, stdout } = await on().run(driverCommand('status', '--socket', path))
  return status === 0 ? JSON.parse(stdout) : undefined
}

/** The kernel's words on a process: its parent, its session and its terminal, 0 without one (proc_pid_stat(5)). */
const kinOf = (pid: number) => {
  const [, parent, , session, terminal] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()?.split(' ') ?? []
  return { parent: Number(parent), session: Number(session), terminal: Number(terminal) }
}

/** Runs a command as a child of a terminal that is its own, with input and output where they were. */
const inTerminal = `import os, pty, sys
pid, _ = pty.fork()
if pid == 0:
    os.dup2(3, 0), os.dup2(4, 1)
    os.execv(sys.argv[1], sys.argv[1:])
os.waitpid(pid, 0)`

const fromTerminal = (...command: string[]): [string, ...string[]] => [
  'sh',
  '-c',
  'exec "$@" 3<&0 4>&1',
  'sh',
  python,
  '-c',
  inTerminal,
  ...command,
]

test(
  'an mcp that is started from a terminal starts a daemon of no terminal, and sends it every call',
  proving(['driver.daemon.proxy'], async () => {
    const path = join(on().path('sockets'), 'driver.sock')
    mkdirSync(dirname(path), { mode: 0o700 })
    let daemon: Status
    {
      await using mcp = openStdio(on(), fromTerminal(...backlotCommand('mcp', '--socket', path)))
      const ask = async (method: string, params: object) => {
        mcp.send({ jsonrpc: '2.0', id: method, method, params })
        return (await mcp.next()).result as { isError?: boolean }
      }
      const clientInfo = { name: 'backlot-tests', version: '1.0.0' }
      await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
      mcp.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      expect(await statusAt(path)).toBeUndefined()
      const [shell] = (await on().run(['pgrep', '-P', String(mcp.process.pid)])).stdout.split('\n').map(Number)
      expect(kinOf(shell ?? 0).terminal).not.toBe(0)
      const calls = [...good.slice(0, 3), ...bad.slice(0, 3)]
      for (const [name, args] of calls) await ask('tools/call', { name, arguments: args() })
      daemon = (await statusAt(path)) as Status
      expect(daemon).toMatchObject({ calls: calls.length, idle_timeout_s: 300 })
      expect(readFileSync(`/proc/${daemon.pid}/cmdline`, 'utf8').split('\0')).toContain('serve')
      expect(kinOf(daemon.pid)).toMatchObject({ session: daemon.pid, terminal: 0 })
    }
    expect((await statusAt(path))?.pid).toBe(daemon.pid)
    await on().run(driverCommand('stop', '--socket', path))
  }),
)

test('what the shell form prints is the structured content', async () => {
  const { stdout, stderr, status } = await on().backlot(['get_screen_size', '{}'])
  const { structured, text } = await proxied.call('get_screen_size')
  expect([JSON.parse(stdout), stderr.trim(), status]).toEqual([structured, text, 0])
})
