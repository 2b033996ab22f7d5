import { beforeAll, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { type Application, startGtk3 } from '../support/applications.ts'
import { shownOverlays } from '../support/cursors.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { driverCommand, openSocket, socketOf } from '../support/driver.ts'
import { inBothForms } from '../support/forms.ts'
import { middleOf, type Target } from '../support/look.ts'
import { connect } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
})

type Facts = Record<string, unknown>
type Ask = (name: string, args: Facts) => Promise<Facts>

/** A call from a shell; the facts of its result, of a failed one too. */
const shell: Ask = async (name, args) => JSON.parse((await on().backlot([name, JSON.stringify(args)])).stdout)

/** A call on a connection of its own to the socket, which names its session as such a client does. */
const socket: Ask = async (name, given) => {
  const { session, ...rest } = given
  const args = /^(start|end)_session$/.test(name) ? given : rest
  await using client = await openSocket(socketOf(on()))
  client.send({ method: 'call', name, args, ...(session !== undefined && { session_id: session }) })
  const reply = (await client.next()) as { result: { structuredContent: Facts } }
  return reply.result.structuredContent
}

const active = async (): Promise<string[]> => JSON.parse((await on().run(driverCommand('status'))).stdout).sessions

const isActive = async (name: string): Promise<boolean> => (await active()).includes(name)

const agents = async (): Promise<number> =>
  (await displayState(on())).masters.filter((name) => /^backlot .* pointer$/.test(name)).length

const presses = (): number => app.journal.entries().filter(({ type }) => type === 'clicked').length

/** The edges, each with a caller of its own. */
const throughEdges = async (work: (edge: string, ask: Ask) => Promise<void>): Promise<void> => {
  await using client = await connect(on())
  await work('mcp', async (name, args) => (await client.call(name, args)).structured)
  await work('shell', shell)
  await work('socket', socket)
}

test(
  'a session begins by its declaration or by an action that names it, and again changes nothing',
  proving(
    [
      'driver.start-session.call',
      'driver.start-session.idempotent',
      'driver.session.begins',
      'driver.session.cursor-id-alias',
    ],
    async () => {
      await throughEdges(async (edge, ask) => {
        const [declared, named, aliased] = [`${edge} declared`, `${edge} named`, `${edge} aliased`]
        expect(await ask('start_session', { session: declared })).toEqual({
          session: declared,
          active: true,
          started: true,
        })
        expect(await ask('start_session', { session: declared })).toMatchObject({ active: true, started: false })
        await ask('press_key', { ...target, key: 'f', session: named })
        await ask('press_key', { ...target, key: 'f', cursor_id: aliased })
        const now = await active()
        expect([edge, [declared, named, aliased].filter((name) => !now.includes(name))]).toEqual([edge, []])
      })
    },
  ),
)

/** Arguments of every tool that only looks, and of those that act with other arguments alone. */
const looks = (): Readonly<Record<string, Facts>> => ({
  list_apps: {},
  list_windows: {},
  get_window_state: { ...target },
  get_accessibility_tree: {},
  get_screen_size: {},
  get_cursor_position: {},
  get_config: {},
  get_recording_state: {},
  get_agent_cursor_state: {},
  zoom: { ...target, x1: 0, y1: 0, x2: 20, y2: 20 },
  check_permissions: {},
  check_for_update: {},
  wait_for: { ...target, condition: 'window' },
  clipboard_read: {},
  get_desktop_state: {},
  page: { ...target, action: 'get_text' },
})

test('a call that only looks begins no session, and makes no cursor', async () => {
  await using client = await connect(on())
  const { tools } = await client.client.listTools()
  const known = Object.keys(looks())
  const readOnly = tools.filter(({ annotations }) => annotations?.readOnlyHint === true).map(({ name }) => name)
  expect(readOnly.filter((name) => !known.includes(name))).toEqual([])
  const cursors = async () =>
    (await client.ask<{ cursors: { config: { cursor_id: string } }[] }>('get_agent_cursor_state')).cursors
  const before = { active: await active(), cursors: await cursors() }
  const missed: unknown[] = []
  for (const [name, args] of Object.entries(looks())) {
    for (const by of ['session', 'cursor_id']) {
      const { structured } = await client.call(name, { ...args, [by]: `looked ${name}` })
      if (structured.code === 'invalid_argument' || structured.code === 'session_ended') missed.push([name, structured])
    }
  }
  expect([missed, await active(), await cursors()]).toEqual([[], before.active, before.cursors])
  // What a session has that nobody has used.
  const seen = await client.ask<Facts>('get_agent_cursor_state', { cursor_id: 'looked at' })
  expect(seen).toMatchObject({ cursor_id: 'looked at', position: null, enabled: true, visible: false })
  await client.ask('set_agent_cursor_enabled', { cursor_id: 'looked at', enabled: true })
  expect(await client.ask<Facts>('get_agent_cursor_state', { cursor_id: 'looked at' })).toEqual({
    ...seen,
    cursors: [
      ...before.cursors,
      expect.objectContaining({ config: expect.objectContaining({ cursor_id: 'looked at' }) }),
    ],
  })
  expect(await isActive('looked at')).toBe(true)
  await client.ask('end_session', { session: 'looked at' })
})

test('a picture that a session looked at before its first action is what its action means', async () => {
  await using client = await connect(on())
  await client.ask('set_config', { max_image_dimension: 240 })
  const button = await middleOf(client, target, 'Press me')
  const looked = await client.ask<Facts>('get_window_state', { ...target, capture_mode: 'vision' })
  expect(looked).toMatchObject({ scale: 0.5 })
  const pressed = presses()
  await client.ask('click', { ...target, x: button.x / 2, y: button.y / 2, session: 'began with a click' })
  await until('the click', () => presses() === pressed + 1)
  await client.ask('end_session', { session: 'began with a click' })
})

test(
  'the declaration and the end need a name',
  proving(['driver.start-session.session-required', 'driver.end-session.session-required'], async () => {
    await throughEdges(async (edge, ask) => {
      for (const name of ['start_session', 'end_session']) {
        expect([edge, await ask(name, {})]).toEqual([
          edge,
          { code: 'missing_argument', argument: 'session', message: 'Missing required string field: session' },
        ])
      }
    })
  }),
)

test(
  'an ended session forgets its configuration and its pointer, and refuses late calls',
  proving(['driver.end-session.call', 'driver.end-session.idempotent', 'driver.session.ends'], async () => {
    await using client = await connect(on())
    const button = await middleOf(client, target, 'Press me')
    await throughEdges(async (edge, ask) => {
      const session = `${edge} to end`
      await shell('start_session', { session })
      await shell('set_config', { session, max_image_dimension: 99 })
      const before = await agents()
      await shell('click', { ...target, ...button, session })
      expect(await agents()).toBe(before + 1)
      expect(await ask('end_session', { session })).toEqual({ session, active: false, ended: true })
      expect(await ask('end_session', { session })).toMatchObject({ active: false, ended: false })
      expect([edge, await agents()]).toEqual([edge, before])
      const pressed = presses()
      expect(await ask('click', { ...target, ...button, session })).toMatchObject({ code: 'session_ended', session })
      expect(await ask('set_config', { session, max_image_dimension: 98 })).toMatchObject({ code: 'session_ended' })
      expect([presses(), await isActive(session), await agents()]).toEqual([pressed, false, before])
      await shell('start_session', { session })
      expect(await shell('get_config', { session })).toMatchObject({ max_image_dimension: 0 })
      await shell('end_session', { session })
    })
  }),
)

test('a call under way fails when its session ends, with nothing held', async () => {
  await using client = await connect(on())
  await client.ask('start_session', { session: 'cut' })
  const waiting = client.call('wait_for', {
    ...target,
    condition: 'text',
    text: 'nowhere',
    timeout_ms: 60_000,
    session: 'cut',
  })
  await until('the call to run', async () => {
    const status = JSON.parse((await on().run(driverCommand('status'))).stdout)
    return status.calls_under_way === 1
  })
  await shell('end_session', { session: 'cut' })
  expect((await waiting).structured).toMatchObject({ code: 'session_ended', session: 'cut' })
})

test(
  'one name is one session with its cursor and its recording over MCP, from a shell and on the socket',
  proving(['driver.session.same-across-edges', 'driver.session.anonymous'], async () => {
    await using client = await connect(on())
    const session = 'everywhere'
    const button = await middleOf(client, target, 'Press me')
    const before = await agents()
    await client.ask('set_config', { session, max_image_dimension: 77 })
    const output_dir = on().path('recorded')
    await client.ask('start_recording', { session, output_dir })
    const cursor = { x: 900, y: 600 }
    await client.ask('move_cursor', { session, ...cursor })
    const turns = () => readdirSync(output_dir).filter((name) => name.startsWith('turn-')).length
    await throughEdges(async (edge, ask) => {
      expect([edge, await ask('get_config', { session })]).toMatchObject([edge, { max_image_dimension: 77 }])
      expect([edge, await ask('get_config', {})]).toMatchObject([edge, { max_image_dimension: 0 }])
      const seen = await ask('get_agent_cursor_state', { session })
      expect([edge, seen]).toMatchObject([edge, { cursor_id: session, visible: true, position: cursor }])
      expect([edge, await ask('get_recording_state', { session })]).toMatchObject([
        edge,
        { recording: true, output_dir },
      ])
      const recorded = turns()
      await ask('click', { ...target, ...button, session })
      await ask('move_cursor', { session, ...cursor })
      expect([edge, await agents()]).toEqual([edge, before + 1])
      await until(`the turn of ${edge}`, () => turns() > recorded)
    })
    await client.ask('end_session', { session })
    await throughEdges(async (edge, ask) => {
      const shown = await shownOverlays(on())
      await ask('click', { ...target, ...button })
      expect([edge, (await ask('get_agent_cursor_state', {})).visible]).toEqual([edge, false])
      expect([edge, await shownOverlays(on())]).toEqual([edge, shown])
    })
  }),
)

test(
  'the argument wins over the session, the session over what is stored, and only anonymous calls store',
  proving(
    [
      'driver.set-config.session-override',
      'driver.set-config.precedence',
      'driver.set-config.anonymous-persists',
      'driver.set-config.session-dropped',
    ],
    async () => {
      {
        await using one = await connect(on())
        await using other = await connect(on())
        expect(await shell('set_config', { capture_mode: 'vision' })).toMatchObject({ stored: true })
        expect(await one.ask('set_config', { capture_mode: 'ax' })).toMatchObject({ stored: false, capture_mode: 'ax' })
        expect(await shell('set_config', { capture_mode: 'som', session: 'told' })).toMatchObject({ stored: false })
        const parts = async (client: typeof one, args: Facts = {}) => {
          const { image, structured } = await client.call('get_window_state', { ...target, ...args })
          return [image !== null, 'tree_markdown' in structured]
        }
        expect(await parts(one)).toEqual([false, true])
        expect(await parts(one, { capture_mode: 'som' })).toEqual([true, true])
        expect(await parts(other)).toEqual([true, false])
        expect(await parts(other, { session: 'told' })).toEqual([true, true])
      }
      // Whoever comes later finds what is stored, and no session's changes.
      await using later = await connect(on())
      expect(await later.ask('get_config')).toMatchObject({ capture_mode: 'vision' })
      expect(await shell('set_config', { capture_mode: 'som' })).toMatchObject({ stored: true })
      expect(await later.ask('get_config')).toMatchObject({ capture_mode: 'som' })
    },
  ),
)

test('the steps of a run belong to its session, and name no other', async () => {
  await using client = await connect(on())
  const key = { tool: 'press_key', arguments: { ...target, key: 'f' } }
  const inSession = (session: string) => ({ ...key, arguments: { ...key.arguments, session } })
  expect((await client.call('run_steps', { steps: [key, inSession('a')] })).structured).toMatchObject({
    code: 'invalid_argument',
    failed_index: 1,
    completed: 0,
  })
  expect(await client.ask<Facts>('run_steps', { steps: [key, inSession('a')], session: 'a' })).toMatchObject({
    completed: 2,
  })
})

test('coordinates refer to the last picture that the session itself was given', async () => {
  await using one = await connect(on())
  await using other = await connect(on())
  await one.ask('set_config', { max_image_dimension: 240 })
  const button = await middleOf(one, target, 'Press me')
  expect(await one.ask<Facts>('get_window_state', { ...target, capture_mode: 'vision' })).toMatchObject({ scale: 0.5 })
  expect(await other.ask<Facts>('get_window_state', { ...target, capture_mode: 'vision' })).toMatchObject({ scale: 1 })
  const pressed = presses()
  await one.ask('click', { ...target, x: button.x / 2, y: button.y / 2 })
  await other.ask('click', { ...target, ...button })
  await until('both clicks', () => presses() === pressed + 2)
  // Who has seen no picture means pixels of the window, whatever others have seen.
  await one.ask('get_window_state', { ...target, capture_mode: 'vision' })
  await using third = await connect(on())
  await third.ask('click', { ...target, ...button })
  await until('the third click', () => presses() === pressed + 3)
})

for (const [how, leave] of [
  ['is closed', async (client: { pid: number } & AsyncDisposable) => client[Symbol.asyncDispose]()],
  ['is killed', async (client: { pid: number }) => void process.kill(client.pid, 'SIGKILL')],
] as const) {
  test(`the sessions that a client of MCP started end when it ${how}`, async () => {
    const client = await connect(on())
    await client.ask('start_session', { session: `declared and ${how}` })
    await client.ask('press_key', { ...target, key: 'f', session: `named and ${how}` })
    await shell('start_session', { session: `of others and ${how}` })
    await client.ask('get_config', { session: `of others and ${how}` })
    expect((await active()).filter((name) => name.endsWith(how))).toHaveLength(3)
    await leave(client)
    await until('the sessions to end', async () => (await active()).filter((name) => name.endsWith(how)).length === 1)
    expect(await shell('get_config', { session: `declared and ${how}` })).toMatchObject({ code: 'session_ended' })
    expect(await isActive(`of others and ${how}`)).toBe(true)
    await shell('end_session', { session: `of others and ${how}` })
  })
}

test('a connection to the socket declares and ends sessions, which end with it', async () => {
  const ask = async (client: Awaited<ReturnType<typeof openSocket>>, request: object) => {
    client.send(request)
    return client.next()
  }
  {
    await using control = await openSocket(socketOf(on()))
    expect(await ask(control, { method: 'session_begin', session_id: 'one' })).toEqual({
      ok: true,
      result: { session: 'one', started: true },
    })
    await ask(control, { method: 'session_begin', session_id: 'other' })
    await using calls = await openSocket(socketOf(on()))
    const config = { method: 'call', name: 'set_config', args: { max_image_dimension: 55 }, session_id: 'one' }
    expect(await ask(calls, config)).toMatchObject({ ok: true })
    expect(await shell('get_config', { session: 'one' })).toMatchObject({ max_image_dimension: 55 })
    expect(await ask(control, { method: 'session_end', session_id: 'other' })).toEqual({
      ok: true,
      result: { session: 'other', ended: true },
    })
    expect(await ask(control, { method: 'session_begin' })).toMatchObject({ ok: false, code: 'missing_argument' })
    expect(await ask(control, { method: 'session_end', session_id: 7 })).toMatchObject({ code: 'invalid_argument' })
    control.terminate()
    await until('the session to end', async () => !(await isActive('one')))
    expect(await ask(calls, config)).toMatchObject({ ok: false, code: 'session_ended' })
  }
})

test(
  'a session without calls ends after the time that the environment says',
  proving(['driver.session.idle-timeout-env', 'driver.session.begin-idempotent'], async () => {
    const quick: TestDesktop = on().with({ DRIVER_SESSION_IDLE_TTL_SECS: '2' })
    const path = on().path('quick.sock')
    await using client = await connect(quick, '--socket', path)
    const sessions = async (): Promise<string[]> =>
      JSON.parse((await on().run(driverCommand('status', '--socket', path))).stdout).sessions
    await client.ask('start_session', { session: 'kept' })
    await client.ask('start_session', { session: 'left' })
    await until('the session that nobody calls to end', async () => {
      await client.ask('start_session', { session: 'kept' })
      return !(await sessions()).includes('left')
    })
    expect(await sessions()).toEqual(['kept'])
    expect((await client.call('get_config', { session: 'left' })).structured).toMatchObject({ code: 'session_ended' })
    await until('the other to end too', async () => (await sessions()).length === 0)
    await on().run(driverCommand('stop', '--socket', path))
  }),
)

test('both forms of each tool of sessions', async () => {
  await using client = await connect(on())
  for (const facts of await inBothForms(on(), client, 'start_session', { session: 'both' })) {
    expect(facts).toMatchObject({ session: 'both', active: true })
  }
  for (const facts of await inBothForms(on(), client, 'end_session', { session: 'both' })) {
    expect(facts).toMatchObject({ session: 'both', active: false })
  }
})
