/** Gestures through a window that covers their target: several at once, and halted ones. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Application, startGtk3, startQt } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import { middleOf, type Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { until } from '../support/until.ts'
import { displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let other: McpClient
let app: Application
let person: Person
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

const many = ({ journal }: Application, since: number, type: string) =>
  journal.entries(since).filter((entry) => entry.type === type)

/** From the middle of the element of that label to the right. */
const dragOf = async (there: Target, label: string, duration_ms: number) => {
  const { x, y } = await middleOf(client, there, label)
  return { ...there, from_x: x - 50, from_y: y, to_x: x + 50, to_y: y, duration_ms, steps: 50 }
}

/** The input shapes of the root's children: an agent's pointer that parks raises its own window. */
const shapes = async () =>
  (await displayState(on())).children.toSorted((one, another) => one.window_id - another.window_id)

test('two agents drag at once in two covered windows, and each application sees its own drag', async () => {
  const second = await startQt(on(), 5, { geometry: '420x600+700+60' })
  const there = { pid: second.pid, window_id: second.windowId }
  person = await seatPerson(on(), '1240x740+10+10')
  const before = await shapes()
  const drags = [await dragOf(target, 'Notes', 600), await dragOf(there, 'Volume', 600)] as const
  const marks = [app.journal.mark(), second.journal.mark()] as const
  await person.undisturbed(async () => {
    await Promise.all([client.ask('drag', drags[0]), other.ask('drag', drags[1])])
  })
  for (const [at, each] of [app, second].entries()) {
    const since = marks[at] ?? 0
    await until('the release', () => many(each, since, 'button-release').length > 0)
    expect(many(each, since, 'motion-notify').length).toBeGreaterThan(20)
  }
  expect(many(app, marks[0], 'button-press')).toHaveLength(1)
  expect(many(app, marks[0], 'button-release')).toHaveLength(1)
  expect(many(second, marks[1], 'changed').some(({ widget }) => widget === 'Volume')).toBe(true)
  const windows = new Set(before.map(({ window_id }) => window_id))
  expect((await shapes()).filter(({ window_id }) => windows.has(window_id))).toEqual(before)
  process.kill(second.pid, 'SIGKILL')
  await until('its window to be gone', async () => {
    return !(await displayState(on())).stacking.includes(second.windowId)
  })
})

test('a drag that is cancelled lets go at once, and what covers the window is whole again', async () => {
  const drag = await dragOf(target, 'Notes', 10_000)
  const before = await shapes()
  const mark = app.journal.mark()
  const caller = new AbortController()
  await person.undisturbed(async () => {
    const call = client.client.callTool({ name: 'drag', arguments: drag }, undefined, { signal: caller.signal })
    const ended = call.then(
      () => 'answered',
      () => 'given up',
    )
    await until('the drag to be under way', () => many(app, mark, 'motion-notify').length > 5)
    expect(await shapes()).not.toEqual(before)
    caller.abort()
    expect(await ended).toBe('given up')
    await until('the release', () => many(app, mark, 'button-release').length === 1)
    await until('the cover to be whole', async () => {
      const now = await shapes()
      // The windows of the second application, which was ended just before, may be on their way out.
      const stay = before.filter(({ window_id }) => now.some((window) => window.window_id === window_id))
      return Bun.deepEquals(now, stay)
    })
    expect(many(app, mark, 'motion-notify').length).toBeLessThan(50)
    await client.ask('click', { ...target, ...(await middleOf(client, target, 'Press me')) })
  })
  await until('the next click', () => many(app, mark, 'clicked').length === 1)
})
