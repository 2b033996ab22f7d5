import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { startChanging } from '../support/changing.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { element, type Target, windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient
/** Acts while the first waits. */
let other: McpClient
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
  other = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await other?.[Symbol.asyncDispose]()
})

/** Settles when a call of the first client is under way. */
const waitIsUnderWay = () =>
  until('the wait to be under way', async () => {
    const { stdout } = await on().run(driverCommand('status'))
    return JSON.parse(stdout).calls_under_way === 1
  })

const wait = (args: Record<string, unknown>) => client.ask<Record<string, unknown>>('wait_for', args)

test('what is there already is found at once', async () => {
  expect(await wait({ ...target, condition: 'element', role: 'push button', label: 'press' })).toMatchObject({
    met: true,
    elements: [{ label: 'Press me' }],
  })
  expect(await wait({ condition: 'window', title: app.title })).toMatchObject({ windows: [target] })
  expect(await wait({ ...target, condition: 'text', text: 'coffee' })).toMatchObject({ met: true })
  expect(await wait({ ...target, condition: 'text_gone', text: 'no such text' })).toMatchObject({ met: true })
  expect(await wait({ ...target, condition: 'element_gone', label: 'No such label' })).toMatchObject({ met: true })
  expect(await wait({ ...target, condition: 'still', still_ms: 100 })).toMatchObject({ met: true })
})

test('a text that comes while waiting ends it', async () => {
  const waiting = wait({ ...target, condition: 'text', text: 'typed meanwhile' })
  const { element_index } = await element(other, target, 'Name')
  await other.ask('type_text', { ...target, element_index, text: 'typed meanwhile' })
  expect(await waiting).toMatchObject({ met: true, lines: [expect.stringContaining('typed meanwhile')] })
})

test('an element that the wait found can be used at once', async () => {
  const { elements } = await client.ask<{ elements: { element_index: number }[] }>('wait_for', {
    ...target,
    condition: 'element',
    label: 'Check me',
  })
  const mark = app.journal.mark()
  await client.ask('click', { ...target, element_index: elements[0]?.element_index })
  await app.journal.waitFor('the check box', ({ type, widget }) => type === 'toggled' && widget === 'Check me', mark)
})

test('a window that opens, and one that closes, end a wait', async () => {
  const opening = wait({ condition: 'window', title: 'Comes later' })
  const late = await startGtk3(on(), 'person', { title: 'Comes later', geometry: '200x100+700+500' })
  expect(await opening).toMatchObject({ windows: [{ window_id: late.windowId }] })
  const { element_index } = await element(client, { pid: late.pid, window_id: late.windowId }, 'Person')
  expect(element_index).toBeGreaterThanOrEqual(0)
  const closing = wait({ condition: 'window_gone', window_id: late.windowId })
  process.kill(late.pid)
  expect(await closing).toMatchObject({ met: true, windows: [] })
})

test('what goes with its window is gone, in whatever way it is waited for', async () => {
  const closing = async (wanted: (window: Target) => Promise<Record<string, unknown>>) => {
    const late = await startGtk3(on(), 'person', { title: 'Goes', geometry: '200x100+700+500' })
    const window = { pid: late.pid, window_id: late.windowId }
    const args = { ...window, ...(await wanted(window)) }
    const waiting = wait(args)
    await waitIsUnderWay()
    process.kill(late.pid)
    expect([args, await waiting]).toMatchObject([args, { met: true, window_id: late.windowId }])
    // Who asks later learns the same.
    expect([args, await wait(args)]).toMatchObject([args, { met: true }])
  }
  await closing(async () => ({ condition: 'text_gone', text: 'Person' }))
  await closing(async () => ({ condition: 'element_gone', label: 'Person' }))
  await closing(async (window) => ({
    condition: 'element_gone',
    element_index: (await element(client, window, 'Person')).element_index,
  }))
  await closing(async (window) => ({
    condition: 'element_gone',
    element_token: (await element(client, window, 'Person')).element_token,
  }))
})

test('an element that comes, and one that goes, end a wait', async () => {
  await using changing = await startChanging(on(), client, 'gtk3')
  const { pid, window_id } = changing
  await until('its window', async () => (await windowsOf(client, pid)).some((each) => each.window_id === window_id))
  const coming = wait({ pid, window_id, condition: 'element', label: 'Comes later' })
  await waitIsUnderWay()
  await changing.tell('add', 'Comes later')
  expect(await coming).toMatchObject({ met: true, elements: [{ label: 'Comes later' }] })
  const { element_index } = await element(client, { pid, window_id }, 'Item 1')
  for (const [gone, label] of [
    [{ label: 'Comes later' }, 'Comes later'],
    [{ element_index }, 'Item 1'],
  ] as const) {
    const going = wait({ pid, window_id, condition: 'element_gone', ...gone })
    await waitIsUnderWay()
    expect(await Promise.race([going, other.ask('get_screen_size').then(() => 'waiting')])).toBe('waiting')
    await changing.tell('remove', label)
    expect(await going).toMatchObject({ met: true })
  }
})

test('a wait in vain says what it saw', async () => {
  const { isError, structured, text } = await client.call('wait_for', {
    ...target,
    condition: 'element',
    label: 'Nowhere',
    timeout_ms: 200,
  })
  expect({ isError, ...structured }).toMatchObject({ isError: true, code: 'condition_not_met', condition: 'element' })
  expect(Number(structured.waited_ms)).toBeGreaterThanOrEqual(200)
  expect(text).toContain('"Nowhere"')
  expect(structured.saw).toMatch(/\d+ elements, none of them "Nowhere"/)
})

test('a condition without what it is about is refused', async () => {
  const code = async (args: Record<string, unknown>) => (await client.call('wait_for', args)).structured.code
  expect(await code({})).toBe('missing_argument')
  expect(await code({ condition: 'element', label: 'x' })).toBe('missing_argument')
  expect(await code({ ...target, condition: 'element' })).toBe('missing_argument')
  expect(await code({ ...target, condition: 'text' })).toBe('missing_argument')
  expect(await code({ condition: 'window' })).toBe('missing_argument')
  expect(await code({ condition: 'still' })).toBe('missing_argument')
  expect(await code({ ...target, condition: 'sunshine' })).toBe('invalid_argument')
})
