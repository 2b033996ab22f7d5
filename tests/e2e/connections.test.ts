import { beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3, startXterm, typedInto } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { listedWindow, middleOf } from '../support/look.ts'
import { connect } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'
import { displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let app: Application
let target: { pid: number; window_id: number }

beforeAll(async () => {
  app = await startGtk3(on(), 'controls')
  target = { pid: app.pid, window_id: app.windowId }
})

/** Names of the pointers that agents have. */
const agentPointers = async (): Promise<string[]> =>
  (await displayState(on())).masters.filter((name) => /^backlot .* pointer$/.test(name))

const pointersAre = (count: number) =>
  until(`${count} agent pointers`, async () => (await agentPointers()).length === count)

test('each connection has a pointer of its own, from its first gesture to its end', async () => {
  await using one = await connect(on())
  const button = await middleOf(one, target, 'Press me')
  expect(await agentPointers()).toEqual([])
  await one.ask('click', { ...target, ...button })
  const [first] = await agentPointers()
  {
    await using other = await connect(on())
    await other.ask('click', { ...target, ...button })
    expect(await agentPointers()).toHaveLength(2)
    await one.ask('click', { ...target, ...button })
    expect(await agentPointers()).toHaveLength(2)
  }
  await pointersAre(1)
  expect(await agentPointers()).toEqual([first ?? ''])
})

test('the pointer of a client that is killed goes with it, in the middle of its typing too', async () => {
  await pointersAre(0)
  const terminal = await startXterm(on())
  await using client = await connect(on())
  const { pid } = await listedWindow(client, terminal.windowId)
  const into = { pid, window_id: terminal.windowId }
  const typing = client.call('type_text', { ...into, text: 'a'.repeat(600), delay_ms: 50 }).catch(() => 'lost')
  await until('the first characters', () => typedInto(terminal).length > 2)
  expect(await agentPointers()).toHaveLength(1)
  process.kill(client.pid, 'SIGKILL')
  expect(await typing).toBe('lost')
  await pointersAre(0)
  expect(typedInto(terminal).length).toBeLessThan(600)
})

test('two clients type what no key gives at the same time, each its own text', async () => {
  const texts = ['Жёлтый 世界 ßéø', '日本語 ΑΒΓ ñçœ']
  const terminals = [
    await startXterm(on(), { title: 'One terminal' }),
    await startXterm(on(), { title: 'Other terminal' }),
  ]
  await using one = await connect(on())
  await using other = await connect(on())
  const typing = [one, other].map(async (client, at) => {
    const { pid = 0, windowId: window_id = 0 } = terminals[at] ?? {}
    for (let time = 0; time < 3; time += 1) await client.ask('type_text', { pid, window_id, text: texts[at] })
  })
  await Promise.all(typing)
  for (const [at, terminal] of terminals.entries()) {
    const wanted = Buffer.from((texts[at] ?? '').repeat(3))
    const read = await until(
      'all of the text',
      () => typedInto(terminal).length >= wanted.length && typedInto(terminal),
    )
    expect(read.toString()).toBe(wanted.toString())
  }
})

test('calls from a shell share one pointer', async () => {
  await pointersAre(0)
  const press = JSON.stringify({ ...target, key: 'f' })
  await Promise.all([1, 2, 3].map(() => on().backlot(['press_key', press])))
  expect(await agentPointers()).toHaveLength(1)
})
