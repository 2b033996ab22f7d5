import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { python, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { windowsOf } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

const on = privateDesktop()
let client: McpClient

beforeAll(async () => {
  client = await connect(on())
  // Its connections to the display are made, so that none of them takes the ids of what ends.
  await client.ask('list_windows')
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

test('a window with the id of one that ended is followed as another', async () => {
  const ended = await startQt(on(), 6)
  const manager = Number((await on().run(['pgrep', '-n', '-x', 'openbox'])).stdout)
  // Until it goes on, the list of the windows that it manages has the one that ended.
  process.kill(manager, 'SIGSTOP')
  let pid = 0
  try {
    process.kill(ended.pid)
    await until('the end of the application', () => !existsSync(`/proc/${ended.pid}`))
    const listed = async () => (await windowsOf(client, ended.pid)).length
    await until('the end of the window', async () => (await listed()) === 0)
    await listed()
    const program = join(import.meta.dir, '../../crates/input/tests/fixtures/keys_qt.py')
    const ready = on().path('ready')
    writeFileSync(ready, '')
    const words = [python, program, '5', 'one', '50', '60', '300', '200', 'two']
    pid = on().start(['sh', '-c', 'exec "$@" >"$0"', ready, ...words]).pid
    await until('another window with its id', () => readFileSync(ready, 'utf8').includes(`"second": ${ended.windowId}`))
    await client.ask('list_windows')
  } finally {
    process.kill(manager, 'SIGCONT')
  }
  const of = async () => (await windowsOf(client, pid)).find(({ window_id }) => window_id === ended.windowId)
  expect((await until('the window', of)).title).toBe('one two')
  await on().run(['xdotool', 'set_window', '--name', 'renamed', String(ended.windowId)])
  await until('its new name', async () => (await of())?.title === 'renamed')
  process.kill(pid)
})
