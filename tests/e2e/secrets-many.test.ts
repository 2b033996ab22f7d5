import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Application, startGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { lookForEffects } from '../support/driver.ts'
import { element, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { turnsIn } from '../support/recorded.ts'
import { runsLeft } from '../support/secrets-left.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let controls: Application
let login: Application
let client: McpClient

beforeAll(async () => {
  controls = await startGtk3(on(), 'controls')
  login = await startGtk3(on(), 'login', { title: 'Log in', geometry: '300x120+700+500' })
  client = await connect(on())
  await lookForEffects(on(), 100)
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

/** Characters that follow no rule, the same in every run. */
const characters = (alphabet: string) => {
  const all = [...alphabet]
  let state = 20_261
  return (length: number): string =>
    Array.from({ length }, () => {
      state = (state * 48_271) % 2_147_483_647
      return all[state % all.length]
    }).join('')
}

const plain = characters('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')
const marks = characters('"\'`\\/&<>%{}[]$#|;abcxyz019')
const foreign = characters('äéßÑжЯאבשعلمनमस्世界語한국어😀👩‍💻🇩🇪é')

const long = plain(2_000)

/** Fifty: with quotes, backslashes and newlines, long, foreign, and parts of one another. */
const secrets: readonly string[] = [
  ...Array.from({ length: 6 }, () => `${plain(5)} "${plain(9)}" '${plain(4)}' "`),
  ...Array.from({ length: 6 }, () => `\\${plain(6)}\\n${plain(4)}\\\\"\\u0041${plain(5)}\\`),
  ...Array.from({ length: 6 }, () => `${plain(9)}\n${plain(12)}\n\n${plain(7)}\t${plain(3)}\n`),
  ...Array.from({ length: 7 }, () => foreign(24)),
  ...Array.from({ length: 6 }, () => marks(30)),
  ...Array.from({ length: 3 }, () => `  ${plain(10)}   ${plain(10)}  `),
  ...Array.from({ length: 2 }, () => `<b class="${plain(6)}">&amp;${plain(8)}%20${plain(4)}</b>`),
  '48151623421087',
  long,
  plain(2_000),
  `${marks(1_000)}\n${foreign(500)}${plain(499)}`,
  ...[0, 90, 150, 196, 1_200].map((from) => long.slice(from, from + 60)),
  ...[195, 1_995].map((from) => long.slice(from, from + 5)),
  `${long.slice(40, 70)}${plain(20)}`,
  `${plain(20)}${long.slice(1_970)}`,
  long.toLowerCase(),
].slice(0, 50)

const target = ({ pid, windowId }: Application): Target => ({ pid, window_id: windowId })

const field = async (app: Application, label: string) => ({
  ...target(app),
  element_index: (await element(client, target(app), label)).element_index,
})

/** The text in a field by the application's own account. */
const holds = (app: Application, widget: string): unknown =>
  app.journal.entries().findLast((entry) => entry.type === 'changed' && entry.widget === widget)?.value ?? ''

const cleared = async (app: Application, label: string): Promise<void> => {
  await client.ask('set_value', { ...(await field(app, label)), value: '' })
  await until(`"${label}" to be empty`, () => holds(app, label) === '')
}

/** Every answer that the client was given since the first secret was told. */
const answers: string[] = []

const ask = async (name: string, args: Record<string, unknown> = {}): Promise<void> => {
  const { text, structured } = await client.call(name, args)
  answers.push(text, JSON.stringify(structured))
}

/** Tells a secret, by whichever way its place in the list says, and waits until the application has it. */
const tell = async (secret: string, at: number): Promise<void> => {
  const ways = [
    async () => {
      const [app, label] = secret.includes('\n') || at % 2 === 0 ? [controls, 'Notes'] : [login, 'User']
      await ask('type_text', { ...(await field(app, label)), text: secret, secret: true })
      return [app, label] as const
    },
    async () => {
      await ask('set_value', { ...(await field(login, 'Password')), value: secret })
      return [login, 'Password'] as const
    },
    async () => {
      await ask('clipboard_write', { text: secret, secret: true })
      await ask('press_key', { ...(await field(controls, 'Notes')), key: 'v', modifiers: ['ctrl'] })
      return [controls, 'Notes'] as const
    },
  ]
  const [app, label] = (await ways[at % ways.length]?.()) ?? [controls, 'Notes']
  await until(`secret ${at} in "${label}"`, () => holds(app, label) === secret)
  // In a field that everybody can read, and once more beside other text.
  await ask('get_window_state', { ...target(app), capture_mode: 'ax' })
  const [readable, more] = label === 'Password' ? ['User', secret.slice(0, 300)] : [label, ' in public']
  await ask('type_text', { ...(await field(app, readable)), text: more, observe: true })
  await ask('get_window_state', { ...target(app), capture_mode: 'ax' })
  await ask('wait_for', { ...target(app), condition: 'text', text: secret.slice(0, 500), timeout_ms: 0 })
  await ask('wait_for', { ...target(app), condition: 'element_gone', label, timeout_ms: 0 })
  await ask('clipboard_read')
  for (const [each, name] of [
    [app, label],
    [login, 'User'],
  ] as const)
    await cleared(each, name)
}

/** What calls say that get a secret where none belongs. */
const misplaced = async (): Promise<void> => {
  for (const secret of secrets) {
    await ask('get_screen_size', { [secret.slice(0, 100)]: 1 })
    await ask(secret.slice(0, 100))
    await ask('set_value', { ...(await field(controls, 'Fruit')), value: secret })
    await ask('launch_app', { name: secret.slice(0, 100) })
    await ask('start_recording', { output_dir: `relative ${secret.slice(0, 100)}` })
    await ask('press_key', { ...target(controls), key: secret.slice(0, 100) })
    await ask('hotkey', { ...target(controls), keys: ['ctrl', secret.slice(0, 100)] })
    await ask('get_window_state', { ...target(login), capture_mode: 'ax', query: secret })
    await ask('invoke_menu', { ...target(controls), path: ['File', secret] })
    await ask('clipboard_write', { files: [`/nowhere/${secret.slice(0, 100)}`] })
  }
}

/** Every file that is kept on the desktop but for what its applications write down of themselves. */
const files = (): readonly string[] =>
  readdirSync(on().desktop.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^\d+-(?:login|controls|person)\.jsonl$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))

test('no eight characters of fifty secrets stand in a file, a log or an answer', async () => {
  expect(new Set(secrets).size).toBe(50)
  const [before, during] = [secrets.slice(0, 17), secrets.slice(17, 34)]
  for (const [at, secret] of before.entries()) await tell(secret, at)
  const folder = on().path('recorded')
  await ask('start_recording', { output_dir: folder })
  for (const [at, secret] of during.entries()) await tell(secret, before.length + at)
  // A window that is called by what was told: its title stands in every turn on it.
  const title = `Entry of ${secrets[0]} and ${secrets[6]}`
  const named = await startGtk3(on(), 'person', { title, geometry: '300x100+700+100' })
  await ask('type_text', { ...(await field(named, 'Person')), text: 'known' })
  await ask('list_windows')
  await ask('get_accessibility_tree')
  await ask('list_apps')
  await ask('stop_recording')
  for (const [at, secret] of secrets.slice(34).entries()) await tell(secret, 34 + at)
  await ask('replay_trajectory', { dir: folder, delay_ms: 0, stop_on_error: false, resolve_elements: true })
  await misplaced()
  // The witness: all were there to be seen.
  const journals = [controls, login].map((app) => JSON.stringify(app.journal.entries()))
  const seen = journals.join('\n')
  expect(secrets.filter((secret) => !seen.includes(JSON.stringify(secret).slice(1, -1)))).toEqual([])
  expect(turnsIn(folder).length).toBeGreaterThan(during.length * 2)
  expect([files(), answers].map((texts) => texts.join('\n').includes('•••••••• in public'))).toEqual([true, true])
  expect(runsLeft(secrets, ...files())).toEqual([])
  expect(runsLeft(secrets, ...answers)).toEqual([])
})
