import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Changing, startChanging } from '../support/changing.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, elementsOf, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'

const on = privateDesktop()
let client: McpClient
let app: Changing
let target: Target

beforeAll(async () => {
  client = await connect(on(), '--direct')
  app = await startChanging(on(), client, 'gtk3')
  target = { pid: app.pid, window_id: app.window_id }
})

afterAll(async () => {
  await app?.[Symbol.asyncDispose]()
  await client?.[Symbol.asyncDispose]()
})

const click = (args: Record<string, unknown>) => client.call('click', { ...target, ...args })

test('a token means the same element in every snapshot, and in every driver', async () => {
  const item = await element(client, target, 'Item 1')
  expect(item.element_token).toMatch(/^[0-9a-hjkmnp-tv-z]{20}$/)
  await app.tell('remove', 'Item 0')
  const later = await element(client, target, 'Item 1')
  expect(later.element_index).toBe(item.element_index - 1)
  expect(later.element_token).toBe(item.element_token)
  await using another = await connect(on(), '--direct')
  for (const each of [client, another]) {
    const { structured, text } = await each.call('click', { ...target, element_token: item.element_token })
    expect(structured).toMatchObject({ element_index: later.element_index, route: 'accessibility' })
    expect(structured).not.toHaveProperty('element_resolved')
    expect(text).toContain('push button "Item 1"')
  }
  await app.tell('rename', 'Item 1', 'Item one')
  expect((await click({ element_token: item.element_token })).text).toContain('push button "Item one"')
})

test('the only lookalike of what is gone is used, and the answer says so', async () => {
  const item = await element(client, target, 'Item 2')
  await app.tell('remove', 'Item 2')
  await app.tell('add', 'Item 2')
  for (const meant of [{ element_index: item.element_index }, { element_token: item.element_token }]) {
    const { structured, text, isError } = await click(meant)
    expect(isError).toBe(false)
    expect(structured.element_resolved).toMatchObject({ how: 'lookalike', role: 'push button', label: 'Item 2' })
    expect(text).toContain('The element meant is gone')
    expect(text).toContain('"Item 2"')
    await app.tell('remove', 'Item 2')
    await app.tell('add', 'Item 2')
  }
})

test('what is gone without a single lookalike is stale, with what is most like it', async () => {
  const item = await element(client, target, 'Item 3')
  await app.tell('remove', 'Item 3')
  const refusals = async () => [
    await click({ element_token: item.element_token }),
    await click({ element_index: item.element_index }),
  ]
  for (const { structured, text } of await refusals()) {
    expect(structured.code).toBe('stale_element')
    expect(structured.candidates).toContainEqual(expect.objectContaining({ role: 'push button', label: 'Item 4' }))
    expect(text).toContain('Most like it: push button "')
  }
  await app.tell('add', 'Item 3')
  await app.tell('rename', 'Item 4', 'Item 3')
  await app.tell('add', 'Item 4')
  for (const { structured } of await refusals()) {
    expect(structured.code).toBe('stale_element')
    const candidates = structured.candidates as { label: string }[]
    expect(candidates.slice(0, 2).map(({ label }) => label)).toEqual(['Item 3', 'Item 3'])
  }
  expect((await click({ element_token: 'nonsense' })).structured.code).toBe('stale_element')
  expect((await client.call('click', { pid: app.pid, element_token: 'x' })).structured.code).toBe('missing_argument')
})

interface Changes {
  readonly snapshot_id: string
  readonly since: string | null
  readonly added: readonly { readonly label: string; readonly element_index: number | null }[]
  readonly changed: readonly { readonly label: string; readonly value: string | null; readonly fields: string[] }[]
  readonly removed: readonly { readonly label: string }[]
  readonly unchanged: number
}

test('what changed since a snapshot is told, with indexes that stay', async () => {
  const looking = { ...target, capture_mode: 'ax' }
  const { snapshot_id } = await client.ask<{ snapshot_id: string }>('get_window_state', looking)
  const item = await element(client, target, 'Item 4')
  await app.tell('add', 'Late')
  await app.tell('remove', 'Item one')
  await app.tell('fill', 'changed text')
  await app.tell('say', 'Status 1')
  const { structured, text } = await client.call('get_window_state', { ...looking, since: snapshot_id })
  const changes = structured as unknown as Changes
  expect(changes.since).toBe(snapshot_id)
  expect(changes.added).toContainEqual(expect.objectContaining({ label: 'Late' }))
  expect(changes.removed).toContainEqual(expect.objectContaining({ label: 'Item one' }))
  expect(changes.changed).toContainEqual(
    expect.objectContaining({ label: 'Field', value: 'changed text', fields: expect.arrayContaining(['value']) }),
  )
  expect(changes.changed).toContainEqual(expect.objectContaining({ label: 'Status 1', element_index: null }))
  expect(structured).not.toHaveProperty('tree_markdown')
  expect(text).toContain('+ [element_index ')
  expect(text).toContain('value="changed text"')
  const [late] = changes.added
  expect((await click({ element_index: item.element_index })).text).toContain('"Item 4"')
  expect((await click({ element_index: late?.element_index })).text).toContain('"Late"')
  const again = await client.ask<Changes>('get_window_state', { ...looking, since: changes.snapshot_id })
  expect([again.added, again.removed]).toEqual([[], []])
  const unknown = await client.call('get_window_state', { ...looking, since: 'unknown' })
  expect(unknown.structured).toMatchObject({ since: null, tree_markdown: expect.stringContaining('"Late"') })
  expect(unknown.text).toContain('this is the whole tree')
})

test('an action that is observed tells what changed in its window', async () => {
  const elements = await elementsOf(client, target)
  const check = elements.find(({ label }) => label === 'Switch')
  const { structured, text } = await click({ element_index: check?.element_index, observe: true })
  const observation = structured.observation as Changes & { settled: boolean }
  expect(observation.settled).toBe(true)
  expect(observation.changed).toContainEqual(expect.objectContaining({ label: 'Switch', value: 'checked' }))
  expect(observation.unchanged).toBeGreaterThan(3)
  expect(text).toContain('~ [element_index')
  expect(text).toContain('value was "unchecked"')
  const next = await client.call('get_window_state', { ...target, capture_mode: 'ax', since: observation.snapshot_id })
  expect(next.structured.since).toBe(observation.snapshot_id)
})
