import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { compositorOn } from '../support/compositor.ts'
import { type CursorFacts, cursorState, dot, startScene } from '../support/cursors.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { inBothForms } from '../support/forms.ts'
import { element, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { asPerson, colorAt, displayState, type Pixels, photograph, pixelsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let target: Target

beforeAll(async () => {
  ;({ target, client } = await startScene(on()))
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

type Facts = Record<string, unknown>

const state = (args: Facts = {}, through = client) => cursorState(through, args)

const screen = (): Promise<Pixels> => photograph(on(), 'root')

const shows = (color: string, x: number, y: number) =>
  until(`${color} at ${x},${y}`, async () => colorAt(await screen(), x, y) === color)

test(
  'a cursor has its position, its looks and whether it is shown, and moves alone',
  proving(
    [
      'driver.get-agent-cursor-state.call',
      'driver.cursor.position',
      'driver.cursor.config',
      'driver.move-cursor.call',
      'driver.move-cursor.overlay-only',
    ],
    async () => {
      await asPerson.point(on(), 30, 30)
      const before = await displayState(on())
      const [mcp, shell] = await inBothForms<CursorFacts>(on(), client, 'get_agent_cursor_state')
      const config = { icon: 'arrow', label: '', size: 16, opacity: 0.85 }
      for (const seen of [mcp, shell]) {
        expect(seen).toMatchObject({ cursor_id: 'default', position: null, enabled: true, visible: false, config })
        expect(seen.config.color).toMatch(/^#[0-9a-f]{6}$/)
      }
      await client.ask('set_agent_cursor_motion', dot('#ff0000'))
      for (const moved of await inBothForms<CursorFacts>(on(), client, 'move_cursor', { x: 700, y: 300 })) {
        expect(moved).toMatchObject({ position: { x: 700, y: 300 }, visible: true })
      }
      // The one of the shell, which came last, is another.
      await client.ask('move_cursor', { x: 800, y: 300 })
      await shows('#ff0000', 800, 300)
      expect(await state()).toMatchObject({ position: { x: 800, y: 300 }, config: { icon: 'dot', color: '#ff0000' } })
      const after = await displayState(on())
      expect([after.pointer, after.focus, after.active_window]).toEqual([
        before.pointer,
        before.focus,
        before.active_window,
      ])
      for (const [args, argument] of [
        [{ x: 1 }, 'y'],
        [{ x: -1, y: 5 }, 'x'],
        [{ x: 5, y: 800 }, 'y'],
      ] as const) {
        expect((await client.call('move_cursor', args)).text).toContain(argument)
      }
    },
  ),
)

test(
  'a cursor is hidden and shown',
  proving(
    [
      'driver.set-agent-cursor-enabled.call',
      'driver.set-agent-cursor-enabled.on',
      'driver.cursor.enabled',
      'driver.cursor.hide',
      'driver.cursor.show',
    ],
    async () => {
      await client.ask('set_agent_cursor_motion', dot('#00ff00'))
      await client.ask('move_cursor', { x: 700, y: 500 })
      await shows('#00ff00', 700, 500)
      for (const seen of await inBothForms<CursorFacts>(on(), client, 'set_agent_cursor_enabled', { enabled: false })) {
        expect(seen).toMatchObject({ enabled: false, visible: false })
      }
      await until('the cursor to be gone', async () => colorAt(await screen(), 700, 500) !== '#00ff00')
      // It is moved all the same, and seen there later.
      expect(await client.ask('move_cursor', { x: 720, y: 500 })).toMatchObject({ visible: false })
      expect(await client.ask('set_agent_cursor_enabled', { enabled: true })).toMatchObject({ visible: true })
      await shows('#00ff00', 720, 500)
      expect((await client.call('set_agent_cursor_enabled', {})).text).toContain('enabled')
    },
  ),
)

test(
  'a cursor belongs to a name, to a session or to a connection',
  proving(
    [
      'driver.cursor.addressed',
      'driver.get-agent-cursor-state.cursor-id',
      'driver.get-agent-cursor-state.order',
      'driver.move-cursor.cursor-id',
      'driver.set-agent-cursor-enabled.own',
    ],
    async () => {
      await client.ask('move_cursor', { x: 10, y: 700, cursor_id: 'anna' })
      await client.ask('move_cursor', { x: 20, y: 700, session: 'bert' })
      await client.ask('move_cursor', { x: 30, y: 700 })
      const at = async (args: Facts, through = client) => (await state(args, through)).position?.x ?? null
      expect(await at({ cursor_id: 'anna', session: 'bert' })).toBe(10)
      expect(await at({ session: 'bert' })).toBe(20)
      expect(await at({ cursor_id: 'bert' })).toBe(20)
      expect(await at({})).toBe(30)
      expect(await at({ cursor_id: 'default', session: 'anna' })).toBe(10)
      await using other = await connect(on())
      expect(await at({}, other)).toBeNull()
      expect(await at({ cursor_id: 'anna' }, other)).toBe(10)
      const colors = await Promise.all(
        ['anna', 'bert'].map(async (cursor_id) => (await state({ cursor_id })).config.color),
      )
      expect(new Set(colors).size).toBe(2)
      await client.ask('end_session', { session: 'anna' })
      expect((await other.call('move_cursor', { x: 1, y: 1, cursor_id: 'anna' })).structured.code).toBe('session_ended')
      await client.ask('end_session', { session: 'bert' })
    },
  ),
)

const before = { x: 600, y: 120 }

test(
  'looks and motion are set within their ranges, and what is left out stays',
  proving(
    [
      'driver.set-agent-cursor-motion.call',
      'driver.set-agent-cursor-motion.cursor-id',
      'driver.set-agent-cursor-motion.cursor-color',
      'driver.set-agent-cursor-motion.cursor-label',
      'driver.limits.cursor-ranges',
    ],
    async () => {
      await client.ask('start_session', { session: 'ranges' })
      const cursor_id = 'ranges'
      const set = (args: Facts) => client.call('set_agent_cursor_motion', { cursor_id, ...args })
      const ranges: Readonly<Record<string, readonly [number, number]>> = {
        cursor_opacity: [0, 1],
        start_handle: [0, 1],
        end_handle: [0, 1],
        arc_size: [0, 1],
        arc_flow: [-1, 1],
        spring: [0.3, 1],
        glide_duration_ms: [50, 5_000],
        dwell_after_click_ms: [0, 5_000],
        idle_hide_ms: [0, 60_000],
      }
      for (const [name, [least, most]] of Object.entries(ranges)) {
        for (const value of [least, most]) expect(await set({ [name]: value })).toMatchObject({ isError: false })
        for (const value of [least - 0.01, most + 0.01]) {
          const { isError, text } = await set({ [name]: value })
          expect([isError, text]).toEqual([true, expect.stringContaining(`"${name}"`)])
        }
      }
      const [, shell] = await inBothForms<CursorFacts>(on(), client, 'set_agent_cursor_motion', {
        cursor_id,
        cursor_color: 'RebeccaPurple',
        cursor_label: 'Anna & 世界',
      })
      expect(shell).toMatchObject({
        cursor_id,
        config: { color: '#663399', label: 'Anna & 世界', opacity: 1, icon: 'arrow' },
        motion: { arc_flow: 1, spring: 1, glide_duration_ms: 5_000, idle_hide_ms: 60_000 },
      })
      for (const cursor_color of ['blurple', '#12345', 'transparent']) {
        expect((await set({ cursor_color })).text).toContain(`"${cursor_color}" is no colour`)
      }
      await client.ask('end_session', { session: 'ranges' })
    },
  ),
)

test(
  'the defaults are the specified ones',
  proving(
    [
      'driver.set-agent-cursor-motion.start-handle',
      'driver.set-agent-cursor-motion.end-handle',
      'driver.set-agent-cursor-motion.arc-size',
      'driver.set-agent-cursor-motion.arc-flow',
      'driver.set-agent-cursor-motion.spring',
    ],
    async () => {
      await using fresh = await connect(on())
      expect((await state({}, fresh)).motion).toEqual({
        start_handle: 0.3,
        end_handle: 0.3,
        arc_size: 0.25,
        arc_flow: 0,
        spring: 0.72,
        glide_duration_ms: 160,
        dwell_after_click_ms: 80,
        idle_hide_ms: 20_000,
      })
    },
  ),
)

test(
  'a glide bulges to its destination with arc_flow above 0, away from it below, and overshoots unless spring is 1',
  proving(['driver.set-agent-cursor-motion.arc-flow', 'driver.set-agent-cursor-motion.spring'], async () => {
    await using moving = await connect(on())
    const cursor_id = 'gliding'
    const [start, end] = [
      { x: 100, y: 700 },
      { x: 1_100, y: 700 },
    ]
    /** The places where it was seen on its way. */
    const glide = async (motion: Facts) => {
      await moving.ask('set_agent_cursor_motion', { cursor_id, glide_duration_ms: 50 })
      await moving.ask('move_cursor', { ...start, cursor_id })
      await moving.ask('set_agent_cursor_motion', { cursor_id, glide_duration_ms: 2_000, arc_size: 0.5, ...motion })
      let isOver = false
      const moved = moving.ask('move_cursor', { ...end, cursor_id }).finally(() => {
        isOver = true
      })
      const places: { readonly x: number; readonly y: number }[] = []
      while (!isOver) {
        const { position } = await state({ cursor_id })
        if (position !== null) places.push(position)
      }
      await moved
      return places
    }
    type Places = readonly { readonly x: number; readonly y: number }[]
    const middle = (start.x + end.x) / 2
    /** How far beside the straight way it was at `x`, between the places where it was seen, whenever that was. */
    const aside = (places: Places, x: number): number => {
      const seen = [start, ...places, end].toSorted((one, another) => one.x - another.x)
      const next = seen.findIndex((place) => place.x >= x)
      const [one = start, another = end] = [seen[next - 1], seen[next]]
      const part = another.x === one.x ? 0 : (x - one.x) / (another.x - one.x)
      return Math.abs(one.y + part * (another.y - one.y) - end.y)
    }
    const sum = (places: Places, from: number): number =>
      Array.from({ length: 49 }, (_, step) => aside(places, from + (step + 1) * 10)).reduce((all, one) => all + one, 0)
    const halves = (places: Places): [number, number] => [sum(places, start.x), sum(places, middle)]
    const [before, after] = [await glide({ arc_flow: -1, spring: 1 }), await glide({ arc_flow: 1, spring: 1 })]
    const [[early, late], [earlyAfter, lateAfter]] = [halves(before), halves(after)]
    expect(early).toBeGreaterThan(late)
    expect(earlyAfter).toBeLessThan(lateAfter)
    const farthest = (places: readonly { readonly x: number }[]) => Math.max(...places.map(({ x }) => x))
    expect(Math.max(...[before, after].map(farthest))).toBeLessThanOrEqual(end.x)
    expect(farthest(await glide({ arc_flow: 0, spring: 0.3 }))).toBeGreaterThan(end.x)
    await moving.ask('end_session', { session: cursor_id })
  }),
)

test(
  'size and icon are what is seen',
  proving(
    [
      'driver.set-agent-cursor-motion.cursor-icon',
      'driver.set-agent-cursor-motion.cursor-size',
      'driver.set-agent-cursor-motion.cursor-opacity',
      'driver.set-agent-cursor-style.image',
      'driver.set-agent-cursor-style.call',
    ],
    async () => {
      await client.ask('set_agent_cursor_motion', dot('#0000ff', { cursor_size: 30, cursor_opacity: 1 }))
      await client.ask('move_cursor', before)
      await shows('#0000ff', before.x + 28, before.y)
      await client.ask('set_agent_cursor_motion', { cursor_size: 10 })
      await until('a smaller dot', async () => colorAt(await screen(), before.x + 28, before.y) !== '#0000ff')
      for (const cursor_icon of ['arrow', 'crosshair', 'hand']) {
        expect(await client.ask('set_agent_cursor_motion', { cursor_icon })).toMatchObject({
          config: { icon: cursor_icon },
        })
      }
      const image = on().path('cursor.svg')
      const square = '<rect width="10" height="10" fill="#abcdef"/>'
      writeFileSync(image, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">${square}</svg>`)
      for (const [tool, argument] of [
        ['set_agent_cursor_motion', 'cursor_icon'],
        ['set_agent_cursor_style', 'image_path'],
      ] as const) {
        await client.ask('set_agent_cursor_motion', dot('#0000ff'))
        const [set] = await inBothForms<CursorFacts>(on(), client, tool, { [argument]: image })
        expect(set).toMatchObject({ config: { icon: image }, style: { image_path: image } })
        await shows('#abcdef', before.x + 5, before.y + 5)
      }
      const reverted = await client.ask<CursorFacts>('set_agent_cursor_style', { image_path: '' })
      expect(reverted).toMatchObject({ config: { icon: 'arrow' }, style: { image_path: null } })
      writeFileSync(image, 'no image')
      const refused = await client.call('set_agent_cursor_style', { image_path: image })
      expect(refused.structured.code).toBe('cursor_image_unreadable')
      expect((await client.call('set_agent_cursor_motion', { cursor_icon: 'banana' })).text).toContain('cursor_icon')
      expect((await state()).config.icon).toBe('arrow')
    },
  ),
)

test(
  'a gradient and a bloom are set and revert',
  proving(
    [
      'driver.set-agent-cursor-style.gradient',
      'driver.set-agent-cursor-style.bloom',
      'driver.set-agent-cursor-style.cursor-id',
    ],
    async () => {
      const cursor_id = 'styled'
      await client.ask('set_agent_cursor_motion', dot('#0000ff', { cursor_id, cursor_size: 30, cursor_opacity: 1 }))
      await client.ask('move_cursor', { ...before, cursor_id })
      const style = (args: Facts) => client.ask<CursorFacts>('set_agent_cursor_style', { cursor_id, ...args })
      const set = await style({ gradient_colors: ['#f00', '#00ff00'], bloom_color: '#FFFF00' })
      expect(set.style).toMatchObject({ gradient_colors: ['#ff0000', '#00ff00'], bloom_color: '#ffff00' })
      const part = async (x: number, y: number) => Number.parseInt(colorAt(await screen(), x, y).slice(1, 3), 16)
      await until('red at the tip', async () => (await part(before.x - 18, before.y - 18)) > 180)
      expect(await part(before.x + 18, before.y + 18)).toBeLessThan(80)
      const reverted = await style({ gradient_colors: [], bloom_color: '' })
      expect(reverted.style).toMatchObject({ gradient_colors: [], bloom_color: null })
      await shows('#0000ff', before.x - 18, before.y - 18)
      for (const args of [{ gradient_colors: ['red'] }, { bloom_color: 'yellow' }]) {
        expect((await client.call('set_agent_cursor_style', args)).isError).toBe(true)
      }
      await client.ask('end_session', { session: cursor_id })
      await until(
        'the cursor to go with its session',
        async () => colorAt(await screen(), before.x, before.y) !== '#0000ff',
      )
    },
  ),
)

test(
  'a cursor hides when nothing happens, and never with 0',
  proving(['driver.cursor.idle-hide', 'driver.set-agent-cursor-motion.idle-hide'], async () => {
    const cursor_id = 'idle'
    await client.ask('set_agent_cursor_motion', dot('#00ffff', { cursor_id, cursor_opacity: 1, idle_hide_ms: 100 }))
    await client.ask('move_cursor', { x: 900, y: 120, cursor_id })
    await until('the cursor to hide', async () => !(await state({ cursor_id })).visible)
    expect(await state({ cursor_id })).toMatchObject({ enabled: true, position: { x: 900, y: 120 } })
    const never = await client.ask<CursorFacts>('set_agent_cursor_motion', { cursor_id, idle_hide_ms: 0 })
    expect(never.motion.idle_hide_ms).toBe(0)
    await client.ask('move_cursor', { x: 900, y: 140, cursor_id })
    // What hides after a while and was shown later goes again and again; this one stays.
    const hiding = { cursor_id: 'hiding' }
    await client.ask('set_agent_cursor_motion', dot('#00ffff', { ...hiding, idle_hide_ms: 300 }))
    for (const x of [100, 200, 300]) {
      await client.ask('move_cursor', { x, y: 60, ...hiding })
      await until('the other to hide', async () => !(await state(hiding)).visible)
      expect(await state({ cursor_id })).toMatchObject({ visible: true })
    }
    await shows('#00ffff', 900, 140)
    for (const session of [cursor_id, 'hiding']) await client.ask('end_session', { session })
  }),
)

test(
  'actions of elements show the cursor in place; after a click on pixels it glides there, and waits after clicks',
  proving(
    [
      'driver.set-agent-cursor-enabled.seed',
      'driver.set-agent-cursor-enabled.glide',
      'driver.set-agent-cursor-motion.glide-duration',
      'driver.set-agent-cursor-motion.dwell',
    ],
    async () => {
      await using fresh = await connect(on())
      const session = 'acting'
      const slow = { cursor_id: session, glide_duration_ms: 900, dwell_after_click_ms: 500 }
      await fresh.ask('start_session', { session })
      await fresh.ask('set_agent_cursor_motion', dot('#ff00ff', { ...slow, cursor_opacity: 1 }))
      const middleOf = async (label: string) => {
        const found = await element(fresh, target, label)
        const { x, y, w, h } = found.frame
        return { element_index: found.element_index, x: Math.floor(x + w / 2), y: Math.floor(y + h / 2) }
      }
      const timed = async (work: () => Promise<unknown>): Promise<number> => {
        const start = performance.now()
        await work()
        return performance.now() - start
      }
      const press = await middleOf('Press me')
      const click = { ...target, session, element_index: press.element_index }
      await fresh.ask('click', click)
      const placed = await state({ cursor_id: session }, fresh)
      expect(placed).toMatchObject({ visible: true })
      expect(Math.abs((placed.position?.x ?? 0) - press.x)).toBeLessThan(3)
      expect(Math.abs((placed.position?.y ?? 0) - press.y)).toBeLessThan(3)
      await fresh.ask('move_cursor', { x: 1_000, y: 600, cursor_id: session })
      await fresh.ask('click', { ...target, session, x: 5, y: 5 })
      // It stays after the click, and then takes its time.
      expect(await timed(() => fresh.ask('click', click))).toBeGreaterThan(1_000)
      expect((await state({ cursor_id: session }, fresh)).position).toEqual(placed.position)
      // A caller without a session has no cursor to wait for.
      expect(await state({}, client)).not.toMatchObject({ position: placed.position })
      await fresh.ask('end_session', { session })
    },
  ),
)

test('the whole display is shown to agents without cursors unless they ask', async () => {
  await client.ask('set_agent_cursor_motion', dot('#ff8000', { cursor_size: 20, cursor_opacity: 1 }))
  for (const at of [
    { x: 1_100, y: 700 },
    { x: 110, y: 130 },
  ]) {
    await client.ask('set_agent_cursor_enabled', { enabled: false })
    await until('no cursor', async () => colorAt(await screen(), at.x, at.y) !== '#ff8000')
    const bare = await pixelsOf((await client.call('get_desktop_state')).image ?? new Uint8Array())
    await client.ask('set_agent_cursor_enabled', { enabled: true })
    await client.ask('move_cursor', at)
    await shows('#ff8000', at.x, at.y)
    const without = await pixelsOf((await client.call('get_desktop_state')).image ?? new Uint8Array())
    const within = await pixelsOf((await client.call('get_desktop_state', { cursor: true })).image ?? new Uint8Array())
    expect(colorAt(within, at.x, at.y)).toBe('#ff8000')
    for (const [x, y] of [
      [0, 0],
      [-12, -12],
      [15, 4],
      [0, 19],
    ] as const) {
      expect(colorAt(without, at.x + x, at.y + y)).toBe(colorAt(bare, at.x + x, at.y + y))
    }
  }
})

/** Asserts that pictures of the display show what is below a blended cursor, wherever it is. */
const looksThrough = async (): Promise<void> => {
  for (const [place, at] of Object.entries({
    'over the background': { x: 1_100, y: 700 },
    'over a window': { x: 210, y: 240 },
    'over the edge of a window': { x: 102, y: 240 },
  })) {
    await client.ask('set_agent_cursor_enabled', { enabled: false })
    await until('no cursor', async () => !(await state()).visible)
    const bare = await until('a display that stands still', async () => {
      const [before, after] = [await screen(), await screen()]
      return before.rgb.equals(after.rgb) && after
    })
    await client.ask('set_agent_cursor_enabled', { enabled: true })
    await client.ask('move_cursor', at)
    expect(await state()).toMatchObject({ overlay: 'composited' })
    // On its way there its bloom is at the point before it is, and the compositor draws it later than it moves.
    const seen = await until('the cursor, on the screen and in a picture alike, at rest', async () => {
      const before = await screen()
      const { image } = await client.call('get_desktop_state', { cursor: true })
      const after = await screen()
      const [shown, pictured] = [
        colorAt(after, at.x, at.y),
        colorAt(await pixelsOf(image ?? new Uint8Array()), at.x, at.y),
      ]
      return shown !== colorAt(bare, at.x, at.y) && shown === pictured && before.rgb.equals(after.rgb) && after
    })
    // Blended: neither the colour alone nor what is below.
    expect([place, colorAt(seen, at.x, at.y)]).not.toEqual([place, '#ff8000'])
    const without = await pixelsOf((await client.call('get_desktop_state')).image ?? new Uint8Array())
    expect([place, without.rgb.equals(bare.rgb)]).toEqual([place, true])
  }
}

test('the same under a compositor, where cursors are blended', async () => {
  await using _ = await compositorOn(on())
  const style = { cursor_size: 20, cursor_opacity: 0.6, cursor_label: 'agent' }
  await client.ask('set_agent_cursor_motion', dot('#ff8000', style))
  await client.ask('set_agent_cursor_style', { bloom_color: '#00ff00' })
  try {
    await looksThrough()
    await asPerson.wallpaper(on())
    await until('the background', async () => colorAt(await screen(), 1_200, 2) === '#204060')
    await looksThrough()
  } finally {
    await client.ask('set_agent_cursor_motion', { cursor_label: '', cursor_opacity: 1 })
    await client.ask('set_agent_cursor_style', { bloom_color: '' })
  }
})

test('without an overlay the tools answer and nothing is shown', async () => {
  const socket = on().path('bare.sock')
  const daemon = on().start(driverCommand('serve', '--socket', socket, '--no-overlay'))
  try {
    // Whoever connects before it listens starts a daemon of their own, with an overlay.
    await until('the daemon', () => existsSync(socket))
    await using bare = await connect(on(), '--socket', socket)
    const moved = await bare.ask<CursorFacts>('move_cursor', { x: 640, y: 640 })
    expect(moved).toMatchObject({ position: { x: 640, y: 640 }, enabled: true, visible: false, overlay: 'off' })
    expect((await bare.call('set_agent_cursor_style', { image_path: '/nowhere.png' })).structured.code).toBe(
      'cursor_image_unreadable',
    )
  } finally {
    daemon.kill()
    await daemon.exited
  }
})
