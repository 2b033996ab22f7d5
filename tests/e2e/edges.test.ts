import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand, type Lines, openSocket, socketOf } from '../support/driver.ts'
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
}, 60_000)

afterAll(async () => {
  await socket?.[Symbol.asyncDispose]()
  await proxied?.[Symbol.asyncDispose]()
  await direct?.[Symbol.asyncDispose]()
}, 30_000)

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

const good: readonly Row[] = [
  ['list_apps', () => ({})],
  ['list_windows', () => ({})],
  ['list_windows', () => ({ pid: app.pid, on_screen_only: true })],
  ['get_accessibility_tree', () => ({})],
  ['get_screen_size', () => ({})],
  ['get_cursor_position', () => ({})],
  ['get_config', () => ({})],
  ['check_permissions', () => ({ prompt: false })],
  ['get_window_state', () => ({ ...window(), capture_mode: 'ax' })],
  ['get_window_state', () => ({ ...window(), capture_mode: 'vision' })],
  ['get_window_state', () => ({ ...window(), query: 'button' })],
  ['set_config', () => ({ max_image_dimension: 0, session: 'edges' })],
]

/** Ways to go wrong before anything is sent. */
const bad: readonly Row[] = [
  ['get_window_state', () => ({ pid: app.pid })],
  ['get_window_state', () => ({ ...window(), capture_mode: 'all' })],
  ['get_window_state', () => ({ ...window(), window_id: 1 })],
  ['list_windows', () => ({ pid: 'x' })],
  ['list_windows', () => ({ process: 1 })],
  ['click', () => ({ pid: app.pid })],
  ['click', () => ({ ...window(), x: 100_000, y: 1 })],
  ['press_key', () => ({ ...window(), key: 'nokey' })],
  ['kill_app', () => ({ pid: 1 })],
  ['frobnicate', () => ({})],
]

for (const [name, args] of [...good, ...bad]) {
  test(
    `${name} ${args.toString().slice(6)} is the same through every edge`,
    proving(['driver.shell.same-code-path', 'driver.shell.same-names', 'driver.daemon.same-semantics'], async () => {
      const expected = await overMcp(() => proxied)(name, args())
      expect([expected.text, expected.isError]).toEqual([
        expect.stringContaining(''),
        bad.some((row) => row[1] === args),
      ])
      expect(expected.structured).toBeObject()
      for (const [edge, call] of edges) expect([edge, await call(name, args())]).toEqual([edge, expected])
    }),
    60_000,
  )
}

test(
  'the proxy sends its calls to a daemon that it started',
  proving(['driver.daemon.proxy'], async () => {
    const before = JSON.parse((await on().run(driverCommand('status'))).stdout)
    await proxied.call('get_config')
    const after = JSON.parse((await on().run(driverCommand('status'))).stdout)
    expect(after.pid).not.toBe(proxied.pid)
    expect([after.pid, after.calls, after.idle_timeout_s]).toEqual([before.pid, before.calls + 1, 300])
  }),
)

test('what the shell form prints is the structured content', async () => {
  const { stdout, stderr, status } = await on().backlot(['get_screen_size', '{}'])
  const { structured, text } = await proxied.call('get_screen_size')
  expect([JSON.parse(stdout), stderr.trim(), status]).toEqual([structured, text, 0])
})
