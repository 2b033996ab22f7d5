import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { element, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { textOf, turnIn } from '../support/recorded.ts'
import { runsLeft } from '../support/secrets-left.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let login: Application
let fields: Target
let client: McpClient

beforeAll(async () => {
  login = await startGtk3(on(), 'login', { title: 'Log in', geometry: '300x120+700+500' })
  fields = { pid: login.pid, window_id: login.windowId }
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const field = async (label: string) => ({
  ...fields,
  element_index: (await element(client, fields, label)).element_index,
})

/** The text in a field by the application's own account. */
const holds = (widget: string): unknown => {
  const [last] = login.journal
    .entries()
    .filter((entry) => entry.type === 'changed' && entry.widget === widget)
    .slice(-1)
  return last?.value
}

const cleared = async (label: string): Promise<void> => {
  const where = await field(label)
  await client.ask('press_key', { ...where, key: 'a', modifiers: ['ctrl'] })
  await client.ask('press_key', { ...where, key: 'delete' })
  await until(`"${label}" to be empty`, () => (holds(label) ?? '') === '')
}

/** Runs of eight characters of a secret that stand in texts. */
const left = (secret: string, ...texts: readonly string[]) => runsLeft([secret], ...texts)

/** All that a client can learn of the window now. */
const answers = async (): Promise<string> => {
  const state = await client.call('get_window_state', { ...fields, capture_mode: 'ax' })
  const windows = await client.call('list_windows', { pid: fields.pid })
  const [first] = (state.structured.elements as { value: string | null }[]).flatMap(({ value }) => value ?? [])
  const waited = await client.call('wait_for', { ...fields, condition: 'element_gone', label: 'User', timeout_ms: 0 })
  const clip = await client.call('clipboard_read')
  return [state, windows, waited, clip, first].map((each) => JSON.stringify(each)).join('\n')
}

const logOf = (): string => {
  const file = join(on().home, '.local/state/backlot')
  return existsSync(file) ? textOf(file) : ''
}

const secrets = [
  'pa"ss\\word one',
  'C:\\new\\table "quoted"',
  `long ${Array.from({ length: 290 }, (_, at) => String.fromCharCode(97 + ((at * at + at) % 26))).join('')}`,
  'Grüße 世界 und mehr',
]

test('a secret that was told before a recording stands in none of its files, and in no later answer', async () => {
  for (const [at, secret] of secrets.entries()) {
    await client.ask('type_text', { ...(await field('User')), text: secret, secret: true })
    await until('the secret in the field', () => holds('User') === secret)
    expect([secret, left(secret, await answers())]).toEqual([secret, []])
    const folder = on().path(`later-${at}`)
    await client.ask('start_recording', { output_dir: folder })
    // A turn whose evidence reads the field, and whose tree holds it.
    const { structured, text } = await client.call('type_text', { ...(await field('User')), text: ' in public' })
    await turnIn(folder, 1)
    await client.ask('stop_recording')
    expect([secret, left(secret, JSON.stringify(structured), text, textOf(folder), logOf())]).toEqual([secret, []])
    expect(textOf(folder)).toContain('in public')
    await cleared('User')
  }
})

test('the turn that tells a secret is written without it', async () => {
  for (const [at, secret] of secrets.entries()) {
    const folder = on().path(`own-${at}`)
    await client.ask('start_recording', { output_dir: folder })
    await client.ask('run_steps', {
      steps: [{ tool: 'type_text', arguments: { ...(await field('User')), text: secret, secret: true } }],
    })
    const { files, action } = await turnIn(folder, 1)
    await client.ask('stop_recording')
    expect([files, action.secret_arguments]).toEqual([['action.json', 'app_state.json'], ['text']])
    expect([secret, left(secret, textOf(folder))]).toEqual([secret, []])
    await cleared('User')
  }
})

test('a text that is copied as a secret stands in no file and no later answer', async () => {
  const folder = on().path('copied')
  await client.ask('start_recording', { output_dir: folder })
  const secret = 'copied "token" \\ 4711'
  await client.ask('clipboard_write', { text: secret, secret: true })
  await client.ask('press_key', { ...(await field('User')), key: 'v', modifiers: ['ctrl'] })
  await until('the paste', () => holds('User') === secret)
  const { action } = await turnIn(folder, 1)
  await turnIn(folder, 2)
  await client.ask('stop_recording')
  expect(action.secret_arguments).toEqual(['text'])
  expect(left(secret, textOf(folder), await answers())).toEqual([])
  await cleared('User')
})

test('what is pasted into a password field is a secret from then on', async () => {
  const secret = 'pasted into a field'
  await client.ask('clipboard_write', { text: secret })
  await client.ask('press_key', { ...(await field('Password')), key: 'v', modifiers: ['ctrl'] })
  await until('the paste', () => holds('Password') === secret)
  const folder = on().path('pasted')
  await client.ask('start_recording', { output_dir: folder })
  await client.ask('type_text', { ...(await field('User')), text: secret })
  const { action } = await turnIn(folder, 1)
  await client.ask('stop_recording')
  expect(action.secret_arguments).toEqual(['text'])
  expect(left(secret, textOf(folder), await answers())).toEqual([])
  await cleared('User')
})

test('what is typed into a password field while nothing is recorded is a secret later', async () => {
  const secret = 'typed with no record'
  await client.ask('type_text', { ...(await field('Password')), text: secret })
  await client.ask('clipboard_write', { text: `copied: ${secret}` })
  expect(left(secret, await answers())).toEqual([])
})

/** Answers of a call, and what is written of its turn. */
const turnOfCall = async (name: string, tool: string, args: Record<string, unknown>) => {
  const folder = on().path(name)
  await client.ask('start_recording', { output_dir: folder })
  const { text, structured } = await client.call(tool, args)
  const { action, files, read } = await turnIn(folder, 1)
  await client.ask('stop_recording')
  return { text, structured, action, files, state: read('app_state.json').toString() }
}

test('a secret of fewer than four characters is masked in the answer and the turn of its own call, and there alone', async () => {
  for (const [at, secret] of ['x7q', '7q', 'ß', '"\\'].entries()) {
    await client.ask('type_text', { ...(await field('User')), text: 'before ' })
    const args = { ...(await field('User')), text: secret, secret: true, observe: true }
    const own = await turnOfCall(`short-${at}`, 'type_text', args)
    await until('the secret in the field', () => holds('User') === `before ${secret}`)
    const whole = JSON.stringify(`before ${secret}`).slice(1, -1)
    for (const text of [own.text, own.state, JSON.stringify([own.structured, own.action])]) {
      expect([secret, text.includes(`before ${secret}`), text.includes(whole)]).toEqual([secret, false, false])
      expect(text).not.toContain('"text":"before')
    }
    expect(own.text).toContain('before ••••••••')
    expect(own.state).toContain('before ••••••••')
    expect(own.structured).toMatchObject({ effect: 'confirmed', route: expect.any(String) })
    expect([own.action.secret_arguments, own.files]).toEqual([['text'], ['action.json', 'app_state.json']])
    // It occurs in other words: what others are told is what is there.
    const elements = await client.ask<{ elements: { value: string | null }[] }>('get_window_state', {
      ...fields,
      capture_mode: 'ax',
    })
    expect(elements.elements.map(({ value }) => value)).toContain(`before ${secret}`)
    await cleared('User')
  }
})

test('a short secret is masked in all steps of its call, and in what the steps say', async () => {
  const where = await field('User')
  const { text, structured } = await client.call('run_steps', {
    steps: [
      { tool: 'type_text', arguments: { ...where, text: 'k9', secret: true }, keep: true },
      { tool: 'type_text', arguments: { ...where, text: ' more' }, keep: true },
      { tool: 'get_window_state', arguments: { ...fields, capture_mode: 'ax' }, keep: true },
    ],
  })
  await until('the text in the field', () => holds('User') === 'k9 more')
  expect([text, JSON.stringify(structured)].filter((each) => each.includes('k9'))).toEqual([])
  expect(structured).toMatchObject({ completed: 3 })
  await cleared('User')
})

test('a number in the place of a secret text is refused, and is a secret all the same', async () => {
  for (const number of [24_681_357, 97]) {
    const { structured, text } = await client.call('type_text', {
      ...(await field('User')),
      text: number,
      secret: true,
    })
    expect(structured).toMatchObject({ code: 'invalid_argument', argument: 'text' })
    expect([text, JSON.stringify(structured)].filter((each) => each.includes(String(number)))).toEqual([])
  }
  expect((await client.call('wait_for', { condition: 'window', title: '24681357', timeout_ms: 0 })).text).not.toContain(
    '24681357',
  )
})

test('keys that are pressed in a password field are no secrets', async () => {
  for (const key of ['return', 'delete', 'space']) {
    await client.ask('press_key', { ...(await field('Password')), key })
    const { text } = await client.call('press_key', { ...(await field('User')), key: 'return' })
    expect([key, text]).toEqual([key, expect.stringContaining('Pressed return in window')])
  }
  await client.ask('type_text', { ...(await field('User')), text: 'space', secret: true })
  expect((await client.call('wait_for', { condition: 'window', title: 'a space', timeout_ms: 0 })).text).not.toContain(
    'space',
  )
  await cleared('User')
})
