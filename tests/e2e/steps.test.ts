import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, elementsOf, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'

const on = privateDesktop()
let client: McpClient
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls', { geometry: '420x480+120+100' })
  target = { pid: app.pid, window_id: app.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface Step {
  readonly effect?: string
  readonly result?: Record<string, unknown>
}

interface Done {
  readonly completed: number
  readonly total: number
  readonly steps: readonly Step[]
  readonly observation?: { readonly changed: readonly { readonly label: string }[] }
}

const tokenOf = async (label: string) => {
  const { elements } = await client.ask<{ elements: { label: string; element_token: string }[] }>('get_window_state', {
    ...target,
    capture_mode: 'ax',
  })
  return elements.find((each) => each.label === label)?.element_token
}

test('steps are done in order, share a window, name elements by token, and end with what changed', async () => {
  const [check, name] = [await tokenOf('Check me'), await tokenOf('Name')]
  const mark = app.journal.mark()
  const done = await client.ask<Done>('run_steps', {
    ...target,
    steps: [
      { tool: 'get_window_state', arguments: { capture_mode: 'ax', query: 'Check me' }, keep: true },
      { tool: 'click', arguments: { element_token: check } },
      { tool: 'type_text', arguments: { element_token: name, text: 'in one go' } },
      { tool: 'press_key', arguments: { key: 'f7' } },
    ],
    observe: true,
  })
  await app.journal.waitFor('the key', ({ type, key }) => type === 'key-press' && key === 'F7', mark)
  const order = app.journal.entries(mark).flatMap(({ type, widget, key }) => {
    if (type === 'toggled' || type === 'changed') return [String(widget)]
    return type === 'key-press' ? [String(key)] : []
  })
  expect([...new Set(order)]).toEqual(['Check me', 'Name', 'F7'])
  expect(done).toMatchObject({ completed: 4, total: 4 })
  // A step's place tells its tool.
  expect(done.steps.map(Object.keys)).toEqual([['result'], ['effect'], ['effect'], ['effect']])
  expect(done.steps.slice(1, 3).map(({ effect }) => effect)).toEqual(['confirmed', 'confirmed'])
  expect(done.steps[0]?.result?.tree_markdown).toContain('Check me')
  expect(done.steps.slice(1).every(({ result }) => result === undefined)).toBe(true)
  const changed = done.observation?.changed.map(({ label }) => label)
  expect(changed).toContain('Check me')
})

test('all steps are checked before the first is done', async () => {
  const { element_index } = await element(client, target, 'Check me')
  const first = { tool: 'click', arguments: { element_index } }
  const mark = app.journal.mark()
  const refusals: readonly (readonly [string, Record<string, unknown>])[] = [
    ['unknown_tool', { tool: 'clikc' }],
    ['missing_argument', { tool: 'press_key' }],
    ['unknown_argument', { tool: 'press_key', arguments: { key: 'a', mode: 'x' } }],
    ['invalid_argument', { tool: 'run_steps', arguments: { steps: [first] } }],
  ]
  for (const [code, second] of refusals) {
    const { isError, structured, text } = await client.call('run_steps', { ...target, steps: [first, second] })
    expect({ isError, ...structured }).toMatchObject({ isError: true, code, failed_index: 1, completed: 0, total: 2 })
    expect(text).toStartWith(`Step 1 ("${second.tool}")`)
  }
  for (const steps of [[], Array.from({ length: 65 }, () => first)]) {
    expect((await client.call('run_steps', { ...target, steps })).structured.code).toBe('invalid_argument')
  }
  expect(app.journal.entries(mark)).toEqual([])
})

test('the first step that fails is the last, and the report says what was done', async () => {
  const [check, disabled] = [await tokenOf('Check me'), await tokenOf('Not now')]
  const mark = app.journal.mark()
  const { isError, structured, text } = await client.call('run_steps', {
    ...target,
    steps: [
      { tool: 'click', arguments: { element_token: check } },
      { tool: 'click', arguments: { element_token: disabled } },
      { tool: 'press_key', arguments: { key: 'f8' } },
    ],
    observe: true,
  })
  expect({ isError, ...structured }).toMatchObject({
    isError: true,
    code: 'element_disabled',
    failed_index: 1,
    completed: 1,
    total: 3,
    steps: [{ effect: 'confirmed' }],
    observation: expect.any(Object),
  })
  expect(text).toContain('1 step before it was done, confirmed.')
  await app.journal.waitFor('the first step', ({ type }) => type === 'toggled', mark)
  expect(app.journal.entries(mark).filter(({ type }) => type === 'key-press')).toEqual([])
})

test('a step may do no more than a call may', async () => {
  await using restricted = await connect(on(), '--direct', '--allow', 'run_steps,list_windows')
  const { element_index } = await element(client, target, 'Check me')
  const mark = app.journal.mark()
  const steps = [{ tool: 'list_windows' }, { tool: 'click', arguments: { ...target, element_index } }]
  const { structured } = await restricted.call('run_steps', { steps })
  expect(structured).toMatchObject({ code: 'tool_not_allowed', tool: 'click' })
  expect(app.journal.entries(mark)).toEqual([])
  expect(await restricted.ask('run_steps', { steps: steps.slice(0, 1) })).toMatchObject({ completed: 1 })
})

test('cancelling ends the run between two steps', async () => {
  const aborting = new AbortController()
  const steps = Array.from({ length: 40 }, () => ({ tool: 'press_key', arguments: { key: 'f9' } }))
  const mark = app.journal.mark()
  const pressed = () => app.journal.entries(mark).filter(({ type }) => type === 'key-press').length
  const running = client.client.callTool({ name: 'run_steps', arguments: { ...target, steps } }, undefined, {
    signal: aborting.signal,
  })
  await app.journal.waitFor('the first key', ({ type }) => type === 'key-press', mark)
  aborting.abort()
  await running.catch(() => undefined)
  await elementsOf(client, target)
  const after = pressed()
  await client.ask('press_key', { ...target, key: 'f10' })
  await app.journal.waitFor('the next call', ({ key }) => key === 'F10', mark)
  expect(after).toBeLessThan(40)
  expect(pressed()).toBeLessThanOrEqual(after + 2)
})
