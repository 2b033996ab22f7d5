import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { inBothForms } from '../support/forms.ts'
import { element, middleOf, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { turnIn, turnsIn } from '../support/recorded.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
const fresh = privateDesktop()
const folder = mkdtempSync(join(tmpdir(), 'backlot-replay-'))
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

type Facts = Record<string, unknown>

interface Replayed extends Facts {
  readonly attempted: number
  readonly succeeded: number
  readonly failed: number
  readonly turns: readonly (Facts & { readonly ok: boolean | null })[]
}

const [recorded, document] = [join(folder, 'task'), join(folder, 'letter.txt')]
const before = 'Dear reader,\n'
const after = `${before}the end is near. Grüße → ✓`

/** Writes into a letter with an editor, saves it through the menu and closes the editor, naming elements all along. */
const writeLetter = async (agent: McpClient): Promise<void> => {
  const { pid } = await agent.ask<{ pid: number }>('launch_app', { bundle_id: 'org.xfce.mousepad', urls: [document] })
  const window = await until('the letter', async () =>
    (await windowsOf(agent, pid)).find(({ title }) => title.includes('letter.txt')),
  )
  const target = { pid, window_id: window.window_id }
  const index = async (role: string, label?: string) =>
    until(`the ${role} "${label}"`, async () => {
      const { elements } = await agent.ask<{ elements: (Facts & { element_index: number })[] }>('get_window_state', {
        ...target,
        capture_mode: 'ax',
      })
      const named = (each: Facts) => label === undefined || String(each.label).trim() === label
      return elements.find((each) => each.role === role && named(each))
    }).then(({ element_index }) => element_index)
  const choose = async (item: string) => {
    await agent.ask('click', { ...target, element_index: await index('menu', 'File') })
    await agent.ask('click', { ...target, element_index: await index('menu item', item) })
  }
  await agent.ask('press_key', { ...target, element_index: await index('text'), key: 'end', modifiers: ['ctrl'] })
  await agent.ask('type_text', { ...target, element_index: await index('text'), text: after.slice(before.length) })
  await choose('Save')
  await until('the saved letter', () => readFileSync(document, 'utf8') === after)
  await choose('Close Window')
  await until('the editor to close', async () => (await windowsOf(agent, pid)).length === 0)
}

const replay = (agent: McpClient, args: Facts = {}) => agent.call('replay_trajectory', { dir: recorded, ...args })

test('a task in an editor is recorded', async () => {
  writeFileSync(document, before)
  await client.ask('start_recording', { output_dir: recorded })
  await writeLetter(client)
  await client.ask('stop_recording')
  expect(turnsIn(recorded)).toHaveLength(7)
  expect((await turnIn(recorded, 1)).action).toMatchObject({ tool: 'launch_app', ok: true })
  expect((await turnIn(recorded, 5)).action.locator).toMatchObject({ role: 'menu item' })
})

test('on a fresh desktop the task is done again when elements are looked for, and leaves the same file', async () => {
  writeFileSync(document, before)
  await using other = await connect(fresh())
  const result = await replay(other, { resolve_elements: true, delay_ms: 100 })
  const { attempted, succeeded, failed, turns } = result.structured as unknown as Replayed
  expect([result.text.split('\n')[0], attempted, succeeded, failed]).toEqual([
    `replay ${recorded}: attempted=7 succeeded=7 failed=0`,
    7,
    7,
    0,
  ])
  await until('the saved letter', () => readFileSync(document, 'utf8') === after)
  const typed = turns[2]?.resolved as { element: Facts; window: Facts }
  expect(typed).toMatchObject({ element: { role: 'text', confidence: expect.any(Number) }, window: { how: 'same' } })
})

test(
  'without that its element actions fail, and the first failure ends it unless told otherwise',
  proving(
    [
      'driver.replay-trajectory.elements-fail',
      'driver.replay-trajectory.stop-on-error',
      'driver.replay-trajectory.order',
      'driver.errors.replay-stops',
    ],
    async () => {
      await using other = await connect(fresh())
      const first = await replay(other, { delay_ms: 0 })
      expect(first.isError).toBe(true)
      expect(first.structured).toMatchObject({
        code: 'replay_failed',
        reason: 'stale_element',
        attempted: 2,
        succeeded: 1,
        failed: 1,
        turns: [
          { turn: 'turn-00001', tool: 'launch_app', ok: true },
          { turn: 'turn-00002', tool: 'press_key', ok: false, code: 'stale_element' },
        ],
      })
      expect(first.text).toStartWith(`replay ${recorded}: attempted=2 succeeded=1 failed=1\n`)
      const all = await replay(other, { delay_ms: 0, stop_on_error: false })
      expect(all.isError).toBe(false)
      expect(all.structured).toMatchObject({ attempted: 7, succeeded: 1, failed: 6 })
      const names = (all.structured as unknown as Replayed).turns.map(({ turn }) => turn)
      expect(names).toEqual([1, 2, 3, 4, 5, 6, 7].map((turn) => `turn-0000${turn}`))
    },
  ),
)

test(
  'pixels and keys are played again, and recorded while that is on',
  proving(
    [
      'driver.replay-trajectory.pixels-replay',
      'driver.replay-trajectory.recorded',
      'driver.replay-trajectory.call',
      'driver.replay-trajectory.delay',
      'driver.limits.replay-delay',
    ],
    async () => {
      const app: Application = await startGtk3(on(), 'controls')
      const target: Target = { pid: app.pid, window_id: app.windowId }
      const [dir, again] = [join(folder, 'pixels'), join(folder, 'again')]
      const entry = await middleOf(client, target, 'Name')
      await client.ask('start_recording', { output_dir: dir })
      await client.ask('click', { ...target, ...(await middleOf(client, target, 'Press me')) })
      await client.ask('click', { ...target, ...entry })
      await client.ask('press_key', { ...target, key: 'x' })
      await client.call('press_key', { ...target, key: 'no such key' })
      await client.ask('type_text', { ...target, text: 'yz' })
      await client.ask('stop_recording')
      await client.ask('set_value', {
        ...target,
        element_index: (await element(client, target, 'Name')).element_index,
        value: '',
      })
      const since = app.journal.mark()
      const valueNow = () => app.journal.entries(since).findLast(({ widget }) => widget === 'Name')?.value
      await client.ask('start_recording', { output_dir: again })
      for (const result of await inBothForms<Replayed>(on(), client, 'replay_trajectory', { dir })) {
        expect(result).toMatchObject({ directory: dir, attempted: 4, succeeded: 4, failed: 0, skipped: 1 })
      }
      await client.ask('stop_recording')
      await until('what was typed', () => valueNow() === 'xyzxyz' || valueNow() === 'xyz')
      expect(app.journal.entries(since).filter(({ type }) => type === 'clicked')).toHaveLength(2)
      const tools = await Promise.all([1, 2, 3, 4].map(async (turn) => (await turnIn(again, turn)).action.tool))
      expect(tools).toEqual(['click', 'click', 'press_key', 'type_text'])
      // The calls of the shell were not of the session that recorded.
      expect(turnsIn(again)).toHaveLength(4)
      const [first, second] = [await turnIn(again, 1), await turnIn(again, 2)]
      const apart = Date.parse(second.action.timestamp) - Date.parse(first.action.timestamp)
      expect(apart).toBeGreaterThanOrEqual(490)
    },
  ),
)

test('a secret is not played, and a folder that is no recording says so', async () => {
  const app = await startGtk3(on(), 'login', { title: 'Log in' })
  const target = { pid: app.pid, window_id: app.windowId }
  const dir = join(folder, 'secret')
  await client.ask('start_recording', { output_dir: dir })
  await client.ask('type_text', { ...target, text: 'not to be kept', secret: true })
  await client.ask('stop_recording')
  const result = await client.call('replay_trajectory', { dir })
  expect(result.structured).toMatchObject({ code: 'replay_failed', reason: 'secret_not_recorded', failed: 1 })
  for (const nowhere of [join(folder, 'nowhere'), folder]) {
    expect((await client.call('replay_trajectory', { dir: nowhere })).structured.code).toBe('recording_not_found')
  }
  expect((await client.call('replay_trajectory', { dir: 'relative' })).structured.code).toBe('invalid_argument')
})

test('a call that only looks, in a folder that somebody else wrote, is played', async () => {
  const dir = join(folder, 'looking')
  const write = (turn: number, tool: string, args: Facts) => {
    const path = join(dir, `turn-0000${turn}`)
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, 'action.json'), JSON.stringify({ tool, arguments: args }))
  }
  write(1, 'get_screen_size', {})
  write(2, 'wait_for', { condition: 'window', title: 'no such window', timeout_ms: 0 })
  write(3, 'get_cursor_position', {})
  for (const stop_on_error of [true, false]) {
    const { structured } = await client.call('replay_trajectory', { dir, delay_ms: 0, stop_on_error })
    const all = [
      { tool: 'get_screen_size', ok: true },
      { tool: 'wait_for', ok: false, code: 'condition_not_met' },
      { tool: 'get_cursor_position', ok: true },
    ]
    expect(structured).toMatchObject(
      stop_on_error
        ? { code: 'replay_failed', reason: 'condition_not_met', succeeded: 1, failed: 1, turns: all.slice(0, 2) }
        : { attempted: 3, succeeded: 2, failed: 1, turns: all },
    )
  }
})

test('what may not be called may not be played, and what no recording holds is refused', async () => {
  const dir = join(folder, 'by hand')
  mkdirSync(dir)
  cpSync(join(folder, 'pixels/turn-00001'), join(dir, 'turn-00001'), { recursive: true })
  const write = (tool: string) =>
    writeFileSync(join(dir, 'turn-00001/action.json'), JSON.stringify({ tool, arguments: { pid: 1 } }))
  write('kill_app')
  expect((await client.call('replay_trajectory', { dir })).structured).toMatchObject({ reason: 'invalid_argument' })
  await using restricted = await connect(on(), '--allow', 'replay_trajectory')
  write('press_key')
  expect((await restricted.call('replay_trajectory', { dir })).structured).toMatchObject({ code: 'tool_not_allowed' })
  writeFileSync(join(dir, 'turn-00001/action.json'), '{"tool": 7')
  expect((await client.call('replay_trajectory', { dir })).structured).toMatchObject({ code: 'recording_not_found' })
  expect(existsSync(dir)).toBe(true)
})
