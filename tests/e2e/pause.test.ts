import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3, startXterm, typedInto } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { listedWindow, middleOf } from '../support/look.ts'
import { connect, type McpClient, type Result } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'
import { boundsOf } from '../support/witness/index.ts'

const on = privateDesktop()
let app: Application
let terminal: Application
let shell: { pid: number; window_id: number }
let client: McpClient

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  terminal = await startXterm(on())
  client = await connect(on())
  const { pid } = await listedWindow(client, terminal.windowId)
  shell = { pid, window_id: terminal.windowId }
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface State {
  readonly paused: boolean
  readonly paused_by: string | null
  readonly paused_at: string | null
}

const driver = async (...words: string[]): Promise<State> =>
  JSON.parse((await on().run(driverCommand(...words))).stdout) as State

/** As the person does it: on the person's own keyboard. */
const pressAsPerson = (...combination: string[]) => on().run(['xdotool', 'key', '--delay', '0', ...combination])

const longText = 'a'.repeat(1000)

/** Starts to type a long text in the terminal; settles when its first characters have arrived. */
const typing = async (by: McpClient): Promise<{ readonly result: Promise<Result> }> => {
  const before = typedInto(terminal).length
  const result = by.call('type_text', { ...shell, text: longText, delay_ms: 30 })
  await until('the first characters', () => typedInto(terminal).length > before + 2)
  return { result }
}

const paused = { isError: true, structured: { code: 'paused_by_person' } }
const press = () => ({ ...shell, key: 'z' })

/** What is typed after a pause stands right behind what was typed before it. */
const resumesWith = async (by: McpClient, before: number): Promise<void> => {
  expect(await driver('resume')).toEqual({ paused: false, paused_by: null, paused_at: null })
  await by.ask('press_key', press())
  await until('the key', () => typedInto(terminal).subarray(before).includes('z'))
  expect(typedInto(terminal).length - before).toBeLessThan(longText.length)
}

test('a pause halts what is under way and refuses what comes, for every connection; looking goes on', async () => {
  const before = typedInto(terminal).length
  const { result } = await typing(client)
  expect(await driver('pause', '--json')).toMatchObject({ paused: true, paused_by: 'command' })
  expect(await result).toMatchObject(paused)
  expect(await client.call('press_key', press())).toMatchObject(paused)
  expect(await driver('status', '--json')).toMatchObject({ running: true, paused: true, paused_by: 'command' })
  await client.ask('list_windows')
  await client.ask('get_window_state', { pid: app.pid, window_id: app.windowId })
  {
    await using other = await connect(on())
    expect(await other.call('press_key', press())).toMatchObject(paused)
    await using direct = await connect(on(), '--direct')
    expect(await direct.call('press_key', press())).toMatchObject(paused)
    await direct.ask('list_windows')
  }
  const { status, stderr } = await on().backlot(['press_key', JSON.stringify(press())])
  expect([status, stderr]).toEqual([1, expect.stringContaining('`backlot-driver resume`')])
  await resumesWith(client, before)
})

test('a pause in the middle of a drag lets the button up, and the next drag after it works', async () => {
  const target = { pid: app.pid, window_id: app.windowId }
  const { x, y } = await middleOf(client, target, 'Notes')
  const path = { from_x: x - 100, from_y: y, to_x: x + 100, to_y: y }
  const isRelease = ({ type }: { type: string }) => type === 'button-release'
  const begun = app.journal.mark()
  const dragging = client.call('drag', { ...target, ...path, duration_ms: 10_000, steps: 200 })
  await until('the middle of the drag', () => {
    const moved = app.journal.entries(begun).filter(({ type }) => type === 'motion-notify')
    return app.journal.entries(begun).some(({ type }) => type === 'button-press') && moved.length > 1
  })
  expect(app.journal.entries(begun).some(isRelease)).toBe(false)
  await driver('pause')
  const up = await app.journal.waitFor('the button to be up', isRelease, begun)
  // It was let up where the drag was, not at its end.
  const { x: left } = await boundsOf(on(), app.windowId)
  expect(Number(up.x_root)).toBeLessThan(left + path.to_x)
  expect(await dragging).toMatchObject(paused)
  expect(await client.call('drag', { ...target, ...path })).toMatchObject(paused)
  await driver('resume')
  const next = app.journal.mark()
  await client.ask('drag', { ...target, ...path, duration_ms: 50, steps: 5 })
  await app.journal.waitFor('the next drag', isRelease, next)
})

test('a pause ends a run of steps with a report, and none of its later steps is done', async () => {
  const before = typedInto(terminal).length
  const steps = [
    { tool: 'list_windows', keep: true },
    { tool: 'type_text', arguments: { ...shell, text: longText, delay_ms: 30 } },
    { tool: 'press_key', arguments: { ...shell, key: 'q' } },
  ]
  const result = client.call('run_steps', { steps })
  await until('the first characters', () => typedInto(terminal).length > before + 2)
  await driver('pause')
  expect(await result).toMatchObject({
    isError: true,
    text: expect.stringContaining('Step 1 of 3 ("type_text") failed: The person has paused'),
    structured: {
      code: 'paused_by_person',
      paused_by: 'command',
      failed_index: 1,
      completed: 1,
      total: 3,
      steps: [{ result: { windows: expect.any(Array) } }],
    },
  })
  await resumesWith(client, before)
  expect(typedInto(terminal).subarray(before).includes('q')).toBe(false)
})

test('a driver in a process of its own is halted too, and a pause outlives the daemon', async () => {
  const before = typedInto(terminal).length
  await using direct = await connect(on(), '--direct')
  const { result } = await typing(direct)
  await driver('pause')
  expect(await result).toMatchObject(paused)
  await on().run(driverCommand('stop'))
  expect(await driver('status')).toMatchObject({ running: false, paused: true })
  expect(await client.call('press_key', press())).toMatchObject(paused)
  await resumesWith(direct, before)
  await on().run(driverCommand('stop'))
  expect(await driver('pause')).toMatchObject({ paused: true })
  expect(await driver('resume')).toMatchObject({ paused: false })
})

test("the stop key works on the person's keyboard, whichever window has the focus, and on no agent's", async () => {
  const set = (value: string) => on().run(driverCommand('config', 'set', 'stop_key', value))
  expect(await set('ctrl+nokey')).toMatchObject({ status: 1, stderr: expect.stringContaining('nokey') })
  expect(await set('ctrl+alt+F7')).toMatchObject({ status: 0 })
  try {
    const before = typedInto(terminal).length
    await client.ask('press_key', { ...shell, key: 'f7', modifiers: ['ctrl', 'alt'] })
    expect(await driver('status')).toMatchObject({ paused: false })
    const { result } = await typing(client)
    await pressAsPerson('F7')
    await pressAsPerson('ctrl+F7')
    expect(await driver('status')).toMatchObject({ paused: false })
    await pressAsPerson('ctrl+alt+F7')
    expect(await result).toMatchObject(paused)
    expect(await driver('status')).toMatchObject({ paused: true, paused_by: 'stop_key' })
    await resumesWith(client, before)
  } finally {
    expect(await set('')).toMatchObject({ status: 0 })
  }
  await pressAsPerson('ctrl+alt+F7')
  await client.ask('press_key', press())
  expect(await driver('status')).toMatchObject({ paused: false })
})

test('no agent changes the stop key', async () => {
  expect(await client.call('set_config', { stop_key: '' })).toMatchObject({
    isError: true,
    structured: { code: 'unknown_argument' },
  })
})
