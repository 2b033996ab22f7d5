/** An X server that does not answer holds up nobody but those who need it, and them for a while only. */
import { beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3, startXterm, typedInto } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { driverCommand } from '../support/driver.ts'
import { listedWindow, middleOf, type Target } from '../support/look.ts'
import { connect } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let app: Application
let target: Target

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
})

/** Runs while the X server stands still. */
const whileItHangs = async (work: () => Promise<void>): Promise<void> => {
  const { x_server } = on().desktop.pids
  process.kill(x_server, 'SIGSTOP')
  try {
    await work()
  } finally {
    process.kill(x_server, 'SIGCONT')
  }
}

const driver = async (...words: string[]): Promise<unknown> =>
  JSON.parse((await on().run(driverCommand(...words, '--json'))).stdout)

test('while the X server hangs, what needs it is refused, and the daemon answers all else', async () => {
  await using client = await connect(on())
  const button = await middleOf(client, target, 'Press me')
  await client.ask('click', { ...target, ...button })
  await client.ask('get_desktop_state')
  await whileItHangs(async () => {
    const calls = [
      client.call('get_desktop_state'),
      client.call('get_window_state', { ...target, capture_mode: 'vision' }),
      client.call('get_cursor_position'),
      client.call('list_windows'),
      client.call('click', { ...target, ...button }),
      client.call('clipboard_write', { text: 'nobody can paste this' }),
    ]
    expect(await driver('pause')).toMatchObject({ paused: true })
    const lost = expect.stringMatching(/^(?:display_lost|display_unavailable|paused_by_person)$/)
    for (const call of calls) expect((await call).structured).toMatchObject({ code: lost })
    expect(await driver('status')).toMatchObject({ running: true, paused: true })
    await client.ask('get_config')
    expect(await driver('resume')).toMatchObject({ paused: false })
    expect((await client.call('list_windows')).structured).toMatchObject({ code: 'display_unavailable' })
    await client.ask('get_config')
  })
  const mark = app.journal.mark()
  await client.ask('click', { ...target, ...button })
  await app.journal.waitFor('the click', ({ type }) => type === 'clicked', mark)
  await client.ask('get_desktop_state')
})

test('a pause ends what is under way on an X server that hangs', async () => {
  const terminal = await startXterm(on())
  await using client = await connect(on())
  const { pid } = await listedWindow(client, terminal.windowId)
  const text = 'a'.repeat(1000)
  const typing = client.call('type_text', { pid, window_id: terminal.windowId, text, delay_ms: 30 })
  await until('the first characters', () => typedInto(terminal).length > 2)
  await whileItHangs(async () => {
    expect(await driver('pause')).toMatchObject({ paused: true })
    expect((await typing).structured).toMatchObject({ code: 'paused_by_person' })
  })
  expect(await driver('resume')).toMatchObject({ paused: false })
  await client.ask('press_key', { pid, window_id: terminal.windowId, key: 'z' })
  await until('the key', () => typedInto(terminal).includes('z'))
  expect(typedInto(terminal).length).toBeLessThan(text.length)
})
