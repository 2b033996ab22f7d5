import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand, openSocket, socketOf } from '../support/driver.ts'
import { inBothForms } from '../support/forms.ts'
import { element, middleOf, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { sessionIn, textOf, turnIn, turnsIn } from '../support/recorded.ts'
import { until } from '../support/until.ts'
import { pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let app: Application
let target: Target
let client: McpClient

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

/** A call from a shell; the facts of its result, of a failed one too. */
const shell = async (name: string, args: Facts = {}): Promise<Facts> =>
  JSON.parse((await on().backlot([name, JSON.stringify(args)])).stdout)

const indexOf = async (label: string, role?: string): Promise<number> =>
  (await element(client, target, label, role)).element_index

/** Every tool that says it only reads, with arguments that it takes. */
const readers = async (): Promise<(readonly [string, Facts])[]> => {
  const given: Facts = { ...target, x1: 0, y1: 0, x2: 50, y2: 50, condition: 'still', still_ms: 50 }
  const { tools } = await client.client.listTools()
  return tools
    .filter(({ annotations }) => annotations?.readOnlyHint === true)
    .map(({ name, inputSchema }) => {
      const taken = Object.entries(given).filter(([argument]) => argument in (inputSchema.properties ?? {}))
      return [name, Object.fromEntries(taken)]
    })
}

/** Tools that do something, but not to an application. */
const unrecorded: readonly (readonly [string, () => Facts])[] = [
  ['bring_to_front', () => ({ ...target })],
  ['set_agent_cursor_enabled', () => ({ enabled: true })],
  ['set_config', () => ({ max_image_dimension: 0, session: 'unrecorded' })],
  ['start_session', () => ({ session: 'unrecorded' })],
  ['end_session', () => ({ session: 'unrecorded' })],
]

test(
  'each of the recorded actions becomes a turn, and nothing else does',
  proving(
    [
      'driver.recording.starts',
      'driver.recording.turns',
      'driver.turn.folders',
      'driver.replay-trajectory.read-only-unrecorded',
    ],
    async () => {
      const folder = on().path('seven')
      const { x, y } = await middleOf(client, target, 'Press me')
      expect(await client.ask<Facts>('start_recording', { output_dir: folder })).toMatchObject({
        recording: true,
        enabled: true,
        output_dir: folder,
        next_turn: 1,
        last_error: null,
        video_active: false,
        last_video_path: null,
        owner: expect.any(String),
      })
      await client.ask('click', { ...target, x, y })
      await client.ask('right_click', { ...target, x, y })
      const looks = await readers()
      expect(looks.map(([tool]) => tool)).toEqual(expect.arrayContaining(['get_window_state', 'list_windows', 'zoom']))
      for (const [tool, args] of looks) expect([tool, (await client.call(tool, args)).isError]).toEqual([tool, false])
      await client.ask('scroll', { ...target, direction: 'down', element_index: await indexOf('Notes') })
      for (const [tool, args] of unrecorded) await client.ask(tool, args())
      await client.ask('type_text', { ...target, element_index: await indexOf('Name'), text: 'typed' })
      await client.ask('press_key', { ...target, key: 'f5' })
      await client.ask('hotkey', { ...target, keys: ['ctrl', 'f6'] })
      await client.ask('set_value', { ...target, element_index: await indexOf('Name'), value: 'value' })
      expect(await client.ask<Facts>('get_recording_state')).toMatchObject({ next_turn: 8 })
      await client.ask('stop_recording')
      const tools = await Promise.all(
        [1, 2, 3, 4, 5, 6, 7].map(async (turn) => (await turnIn(folder, turn)).action.tool),
      )
      expect(tools).toEqual(['click', 'right_click', 'scroll', 'type_text', 'press_key', 'hotkey', 'set_value'])
      expect(turnsIn(folder)).toHaveLength(7)
      expect(sessionIn(folder)).toMatchObject({ turns: 7, stopped_because: 'stop_recording', last_error: null })
      expect(readdirSync(folder).filter((each) => each.startsWith('.'))).toEqual([])
    },
  ),
)

test(
  'a turn holds the call, what it acted on, what came of it, and how that looked',
  proving(['driver.turn.app-state', 'driver.turn.screenshot', 'driver.turn.action', 'driver.turn.click'], async () => {
    const folder = on().path('turn')
    await client.ask('start_recording', { output_dir: folder })
    const before = Date.now()
    const { x, y } = await middleOf(client, target, 'Check me')
    await client.ask('click', { ...target, x, y })
    await client.ask('click', { ...target, element_index: await indexOf('Press me', 'push button') })
    await client.ask('set_value', { ...target, element_index: await indexOf('Name'), value: 'seen afterwards' })
    await client.ask('stop_recording')
    const clicked = await turnIn(folder, 1)
    expect(clicked.files).toEqual(['action.json', 'app_state.json', 'click.png', 'screenshot.png'])
    expect(clicked.action).toMatchObject({
      turn: 1,
      tool: 'click',
      arguments: { ...target, x, y },
      ok: true,
      effect: 'confirmed',
      pid: app.pid,
      click_point: { x: Math.floor(x), y: Math.floor(y), window_id: app.windowId },
      locator: { role: 'check box', name: 'Check me' },
      result_summary: expect.stringContaining('✅ Clicked'),
      result: { route: 'agent_pointer', effect: 'confirmed' },
    })
    expect(clicked.action.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Date.parse(clicked.action.timestamp)).toBeWithin(before, Date.now())
    const [plain, dotted] = await Promise.all(
      ['screenshot.png', 'click.png'].map((name) => pixelsOf(clicked.read(name))),
    )
    expect([plain?.width, plain?.height]).toEqual([420, 480])
    const at = (pixels: typeof plain, px: number, py: number) => [
      ...(pixels?.rgb.subarray((py * 420 + px) * 3, (py * 420 + px) * 3 + 3) ?? []),
    ]
    expect(at(dotted, Math.floor(x), Math.floor(y))).toEqual([255, 0, 0])
    expect(at(plain, Math.floor(x), Math.floor(y))).not.toEqual([255, 0, 0])
    expect(at(dotted, 3, 470)).toEqual(at(plain, 3, 470))
    const pressed = await turnIn(folder, 2)
    expect(pressed.files).toContain('click.png')
    expect(pressed.action).toMatchObject({
      locator: { role: 'push button', name: 'Press me', path: [{ role: 'frame', name: app.title }] },
      result: { route: 'accessibility' },
    })
    const written = await turnIn(folder, 3)
    expect(written.files).toEqual(['action.json', 'app_state.json', 'screenshot.png'])
    expect(written.state.pid).toBe(app.pid)
    expect(written.state.tree_markdown).toContain('"seen afterwards"')
    expect(clicked.state.tree_markdown).not.toContain('"seen afterwards"')
  }),
)

test(
  'the tools of recording work in both forms',
  proving(
    [
      'driver.start-recording.call',
      'driver.stop-recording.call',
      'driver.get-recording-state.call',
      'driver.get-recording-state.enabled',
      'driver.get-recording-state.next-turn',
    ],
    async () => {
      const none = { recording: false, enabled: false, output_dir: null, next_turn: 1, owner: null }
      expect(await inBothForms(on(), client, 'get_recording_state')).toMatchObject([none, none])
      const folder = on().path('shell')
      expect(await shell('start_recording', { output_dir: folder })).toMatchObject({ enabled: true, owner: null })
      // The anonymous one holds the calls of all.
      await client.ask('press_key', { ...target, key: 'f5', session: 'some session' })
      const held = { enabled: true, output_dir: folder, next_turn: 2 }
      expect(await inBothForms(on(), client, 'get_recording_state')).toMatchObject([held, held])
      expect((await turnIn(folder, 1)).action).toMatchObject({ tool: 'press_key', session: 'some session' })
      expect(await inBothForms(on(), client, 'stop_recording')).toMatchObject([
        { ...none, stopped: [{ output_dir: folder, turns: 1 }] },
        { ...none, stopped: [] },
      ])
      for (const output_dir of ['relative/folder', '']) {
        expect((await client.call('start_recording', { output_dir })).structured.code).toBe('invalid_argument')
      }
      expect((await client.call('start_recording', {})).structured.code).toBe('missing_argument')
      writeFileSync(on().path('file'), '')
      expect((await client.call('start_recording', { output_dir: '/proc/nowhere' })).structured).toMatchObject({
        code: 'recording_not_started',
      })
    },
  ),
)

test(
  'a folder from ~ is the home folder, and an earlier recording in it is kept apart',
  proving(['driver.start-recording.output-dir', 'driver.get-recording-state.read-only'], async () => {
    const folder = join(on().home, 'recordings here')
    for (const time of [1, 2]) {
      const { text, structured } = await client.call('start_recording', { output_dir: '~/recordings here/' })
      expect(structured).toMatchObject({ output_dir: folder, next_turn: 1 })
      const moved = readdirSync(folder).filter((name) => name.startsWith('earlier-'))
      expect(structured.earlier).toBe(time === 1 ? null : join(folder, moved.join()))
      expect(text.includes('What was recorded there before is in')).toBe(time === 2)
      await client.ask('press_key', { ...target, key: `f${time}` })
      await turnIn(folder, 1)
    }
    const before = await client.ask<Facts>('get_recording_state')
    expect(await client.ask<Facts>('get_recording_state')).toEqual(before)
    await client.ask('stop_recording')
    expect((await turnIn(folder, 1)).action.arguments).toMatchObject({ key: 'f2' })
    const [earlier = ''] = readdirSync(folder).filter((name) => name.startsWith('earlier-'))
    expect((await turnIn(join(folder, earlier), 1)).action.arguments).toMatchObject({ key: 'f1' })
    expect(sessionIn(join(folder, earlier))).toMatchObject({ stopped_because: 'its owner started another' })
  }),
)

test(
  'a session holds its own calls, and whoever has no recording stops all',
  proving(
    ['driver.start-recording.owner', 'driver.stop-recording.any-owner', 'driver.recording.stop-stopped'],
    async () => {
      const [one, other] = [on().path('one'), on().path('other')]
      expect(await shell('start_recording', { output_dir: one, session: 'one' })).toMatchObject({ owner: 'one' })
      expect(await shell('start_recording', { output_dir: other, session: 'other' })).toMatchObject({ owner: 'other' })
      expect(await shell('start_recording', { output_dir: one, session: 'third' })).toMatchObject({
        code: 'recording_not_started',
        owner: 'one',
      })
      await shell('press_key', { ...target, key: 'f1', session: 'one' })
      await client.ask('press_key', { ...target, key: 'f2', session: 'other' })
      await client.ask('press_key', { ...target, key: 'f3' })
      expect((await turnIn(one, 1)).action).toMatchObject({ session: 'one', arguments: { key: 'f1' } })
      expect((await turnIn(other, 1)).action).toMatchObject({ session: 'other', arguments: { key: 'f2' } })
      expect(await shell('get_recording_state', { session: 'one' })).toMatchObject({ owner: 'one', next_turn: 2 })
      expect(await shell('stop_recording', { session: 'one' })).toMatchObject({ stopped: [{ owner: 'one', turns: 1 }] })
      expect(await shell('get_recording_state', { session: 'other' })).toMatchObject({ enabled: true })
      expect(await client.ask<Facts>('stop_recording')).toMatchObject({ stopped: [{ owner: 'other', turns: 1 }] })
      expect(await client.ask<Facts>('stop_recording')).toMatchObject({ enabled: false, stopped: [] })
      expect([turnsIn(one).length, turnsIn(other).length]).toEqual([1, 1])
    },
  ),
)

test(
  'a recording ends with the session that owns it, and leaves that of a later client alone',
  proving(
    [
      'driver.recording.owner-ends',
      'driver.recording.later-unaffected',
      'driver.event.session-end',
      'driver.event.session-end-killed',
      'driver.event.session-end-owned-only',
    ],
    async () => {
      const closed = 'the connection that started it was closed'
      const stops = (folder: string, because: string) =>
        until('the recording to stop', () => sessionIn(folder).stopped_because === because)
      for (const leave of ['closed', 'killed', 'ended'] as const) {
        const folder = on().path(leave)
        const own = await connect(on())
        const session = { session: `recording until ${leave}` }
        await own.ask('start_recording', { output_dir: folder, ...(leave !== 'closed' && session) })
        await own.ask('set_config', { max_image_dimension: 50, ...session })
        await own.ask('press_key', { ...target, key: 'f4', ...(leave !== 'closed' && session) })
        const later = on().path(`later than ${leave}`)
        await client.ask('start_recording', { output_dir: later })
        if (leave === 'ended') await shell('end_session', session)
        if (leave === 'killed') process.kill(own.pid, 'SIGKILL')
        await own[Symbol.asyncDispose]()
        await stops(folder, leave === 'ended' ? 'end_session ended it' : closed)
        expect(turnsIn(folder)).toEqual(['turn-00001'])
        expect(await client.ask<Facts>('get_recording_state')).toMatchObject({ enabled: true, output_dir: later })
        await client.ask('stop_recording')
      }
      const control = await openSocket(socketOf(on()))
      const folder = on().path('raw')
      control.send({ method: 'session_begin', session_id: 'raw' })
      await control.next()
      control.send({ method: 'call', name: 'start_recording', args: { output_dir: folder }, session_id: 'raw' })
      expect(await control.next()).toMatchObject({ result: { structuredContent: { owner: 'raw' } } })
      control.terminate()
      await stops(folder, closed)
    },
  ),
)

test(
  'a daemon in which no tool is called stops what it records, and a new one records nothing',
  proving(['driver.recording.idle', 'driver.state.restart-disables-recording'], async () => {
    const socket = on().path('idle.sock')
    const quick = on().with({ DRIVER_RECORDING_IDLE_SECS: '1' })
    const call = async (name: string, args: Facts = {}) =>
      JSON.parse((await quick.backlot([name, JSON.stringify(args), '--socket', socket])).stdout)
    const folder = on().path('idle')
    await call('start_recording', { output_dir: folder })
    await until('the recording to stop', () => sessionIn(folder).stopped_at !== null)
    expect(await call('get_recording_state')).toMatchObject({ enabled: false })
    expect(sessionIn(folder).stopped_because).toContain('no tool was called')
    await on().run(driverCommand('stop', '--socket', socket))
    const lasting = async (name: string, args: Facts = {}) =>
      JSON.parse((await on().backlot([name, JSON.stringify(args), '--socket', socket])).stdout)
    await lasting('start_recording', { output_dir: folder })
    await on().run(driverCommand('stop', '--socket', socket))
    await until('the daemon to end', () => sessionIn(folder).stopped_because === 'the driver ended')
    expect(await lasting('get_recording_state')).toMatchObject({ enabled: false, output_dir: null, next_turn: 1 })
    await on().run(driverCommand('stop', '--socket', socket))
  }),
)

test('calls that take longer than the idle time are use of a recording, and stand in it whole', async () => {
  const [first, again, stepped] = [on().path('first'), on().path('again'), on().path('stepped')]
  const press = { tool: 'click', arguments: { ...target, element_index: await indexOf('Press me') } }
  await client.ask('start_recording', { output_dir: first })
  await client.ask('run_steps', { steps: [press, press] })
  await client.ask('stop_recording')
  await using quick = await connect(on().with({ DRIVER_RECORDING_IDLE_SECS: '0.2' }), '--direct')
  await quick.ask('get_window_state', { ...target })
  await quick.ask('start_recording', { output_dir: again })
  const { succeeded } = await quick.ask<Facts>('replay_trajectory', {
    dir: first,
    delay_ms: 1_000,
    resolve_elements: true,
  })
  await turnIn(again, 2)
  expect([succeeded, turnsIn(again).length]).toEqual([2, 2])
  await until('the recording to end', () => sessionIn(again).stopped_at !== null)
  await quick.ask('start_recording', { output_dir: stepped })
  const long = { tool: 'wait_for', arguments: { ...target, condition: 'still', still_ms: 600, timeout_ms: 20_000 } }
  await quick.ask('run_steps', { steps: [press, long, press] })
  await turnIn(stepped, 2)
  expect(turnsIn(stepped)).toHaveLength(2)
  await until('the recording to end', () => sessionIn(stepped).stopped_at !== null)
})

test('what is typed into a password field, and what is called a secret, stands in no file', async () => {
  const login = await startGtk3(on(), 'login', { title: 'Log in', geometry: '300x120+700+500' })
  const fields = { pid: login.pid, window_id: login.windowId }
  const folder = on().path('secrets')
  await client.ask('start_recording', { output_dir: folder })
  const field = async (label: string) => (await element(client, fields, label)).element_index
  await client.ask('type_text', { ...fields, element_index: await field('Password'), text: 'hunter2 and more' })
  await client.ask('set_value', { ...fields, element_index: await field('Password'), value: 'correct horse' })
  await client.ask('press_key', { ...fields, element_index: await field('Password'), key: 'q' })
  await client.ask('click', { ...fields, ...(await middleOf(client, fields, 'Password')) })
  await client.ask('type_text', { ...fields, text: 'without a name' })
  await client.ask('press_key', { ...fields, key: 'w' })
  await client.ask('type_text', { ...fields, element_index: await field('User'), text: 'api-key-17', secret: true })
  await client.ask('type_text', { ...fields, element_index: await field('User'), text: ' in public' })
  await client.ask('stop_recording')
  const values = login.journal.entries().flatMap(({ type, value }) => (type === 'changed' ? [value] : []))
  expect(values).toContain('hunter2 and more')
  expect(values.at(-1)).toBe('api-key-17 in public')
  for (const turn of [1, 2, 3, 5, 6, 7]) {
    const { files, action } = await turnIn(folder, turn)
    expect([turn, files]).toEqual([turn, ['action.json', 'app_state.json']])
    expect(action.secret_arguments).toHaveLength(1)
    expect(Object.values(action.arguments)).toContain('••••••••')
  }
  expect((await turnIn(folder, 8)).files).toContain('screenshot.png')
  const text = textOf(folder)
  for (const secret of ['hunter2', 'correct horse', 'without a name', 'api-key-17'])
    expect([secret, text.includes(secret)]).toEqual([secret, false])
  expect(text).toContain(' in public')
})

test('a call that fails is a turn too, and one that is refused for its arguments is none', async () => {
  const folder = on().path('failing')
  await client.ask('start_recording', { output_dir: folder })
  await client.call('click', { ...target, element_index: 100_000 })
  await client.call('click', { ...target, element_index: 'x' })
  await client.call('run_steps', {
    steps: [{ tool: 'press_key', arguments: { ...target, key: 'f7' } }, { tool: 'get_screen_size' }],
  })
  await client.ask('stop_recording')
  expect((await turnIn(folder, 1)).action).toMatchObject({ ok: false, error: { code: 'stale_element' } })
  expect((await turnIn(folder, 2)).action).toMatchObject({ ok: true, tool: 'press_key' })
  expect(turnsIn(folder)).toHaveLength(2)
})

/** Calls through a daemon of their own, whose native core makes no films. */
const withoutEncoder = async (
  env: Record<string, string>,
  work: (call: (name: string, args?: Facts) => Promise<Facts>) => Promise<void>,
) => {
  const socket = on().path('bare.sock')
  const poor = on().with({
    BACKLOT_NATIVE_PATH: join(import.meta.dir, '../support/fixtures/core-without-film.cjs'),
    ...env,
  })
  await work(async (name, args = {}) =>
    JSON.parse((await poor.backlot([name, JSON.stringify(args), '--socket', socket])).stdout),
  )
  await on().run(driverCommand('stop', '--socket', socket))
}

test(
  'where no film can be made the turns are recorded, and last_error says why',
  proving(['driver.start-recording.without-ffmpeg', 'driver.errors.ffmpeg-missing'], async () => {
    const program = on().path('no such ffmpeg')
    await withoutEncoder({ FFMPEG_BIN: program }, async (call) => {
      const folder = on().path('no film')
      expect(await call('start_recording', { output_dir: folder, record_video: true })).toMatchObject({
        enabled: true,
        video_active: false,
        last_error: expect.stringContaining(program),
      })
      await call('press_key', { ...target, key: 'f8' })
      expect(await call('stop_recording')).toMatchObject({
        last_video_path: null,
        last_error: expect.stringContaining(program),
      })
      expect(turnsIn(folder)).toEqual(['turn-00001'])
    })
  }),
)

test('where the native encoder is missing ffmpeg makes the film, and ends with it', async () => {
  await withoutEncoder({}, async (call) => {
    const folder = on().path('by ffmpeg')
    const film = join(folder, 'recording.mp4')
    expect(await call('start_recording', { output_dir: folder, record_video: true })).toMatchObject({
      video_active: true,
    })
    await until('the film to begin', () => existsSync(film) && statSync(film).size > 1_000)
    expect(await call('stop_recording')).toMatchObject({ last_video_path: film, last_error: null })
    const probe = [
      'ffprobe',
      '-v',
      'error',
      '-show_entries',
      'stream=codec_name,r_frame_rate',
      '-of',
      'csv=p=0',
      film,
    ] as const
    expect(await on().run([...probe])).toMatchObject({ stdout: 'h264,30/1\n', stderr: '' })
  })
})

test(
  'with record_video the display is filmed, H.264 at 30 pictures a second',
  proving(
    [
      'driver.turn.video',
      'driver.recording.stops',
      'driver.stop-recording.video-path',
      'driver.start-recording.record-video',
    ],
    async () => {
      const folder = on().path('film')
      const film = join(folder, 'recording.mp4')
      expect(await client.ask<Facts>('start_recording', { output_dir: folder })).toMatchObject({ video_active: false })
      const state = await client.ask<Facts>('start_recording', { output_dir: folder, record_video: true })
      expect(state).toMatchObject({ video_active: true, last_error: null, last_video_path: null })
      const { x, y } = await middleOf(client, target, 'Press me')
      await client.ask('click', { ...target, x, y })
      await until(
        'a second of film',
        async () => existsSync(film) && (await client.ask<Facts>('get_recording_state')).next_turn === 2,
      )
      const stopped = await client.ask<Facts>('stop_recording')
      expect(stopped).toMatchObject({ enabled: false, last_video_path: film, last_error: null })
      const entries = 'stream=codec_name,r_frame_rate,width,height'
      const probe = await on().run(['ffprobe', '-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', film])
      expect(probe).toMatchObject({ stdout: 'h264,1280,800,30/1\n', stderr: '' })
      expect(statSync(film).mode & 0o777).toBe(0o600)
      expect((await turnIn(folder, 1)).action).toMatchObject({ video_ms: expect.any(Number) })
      expect(sessionIn(folder)).toMatchObject({ video: { file: 'recording.mp4' }, last_video_path: film })
    },
  ),
)
