import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Embedding, startEmbedding } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import type { Entry } from '../support/journal.ts'
import type { ListedElement, Target } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { until } from '../support/until.ts'

// Programs number their accessible objects each for itself: those of all these programs have the same paths.
const on = privateDesktop()
const hows = { North: 'added', South: 'added', East: 'made', West: 'made' } as const
const names = ['North', 'South', 'East', 'West'] as const
let client: McpClient
let windows: readonly Embedding[]

beforeAll(async () => {
  client = await connect(on())
  windows = await Promise.all(names.map((name) => startEmbedding(on(), name, hows[name])))
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

const kinds = ['Press', 'Field', 'Level', 'Check'] as const
const insideOf = ({ name }: Embedding) => `${name} inside`
const programsOf = (window: Embedding) => [window.name, insideOf(window)]
const labelsOf = (program: string) => kinds.map((kind) => `${kind} ${program}`)
const targetOf = ({ pid, windowId }: Embedding): Target => ({ pid, window_id: windowId })

interface State {
  readonly elements: readonly ListedElement[]
  readonly partial: string | null
}

const look = (window: Embedding, args: Record<string, unknown> = {}) =>
  client.ask<State>('get_window_state', { ...targetOf(window), capture_mode: 'ax', ...args })

const labels = ({ elements }: State) => elements.map(({ label }) => label).filter((label) => label !== '')

/** The state of a window once it holds the widgets of both programs. */
const whole = (window: Embedding) =>
  until(`both programs of ${window.name}`, async () => {
    const state = await look(window)
    const wanted = programsOf(window).flatMap(labelsOf)
    return wanted.every((label) => labels(state).includes(label)) && state
  })

const found = ({ elements }: State, label: string): ListedElement => {
  const element = elements.find((each) => each.label === label)
  if (element === undefined) throw new Error(`no "${label}" among ${elements.map((each) => each.label).join(', ')}`)
  return element
}

describe.each([0, 1, 2, 3])('window %i', (number) => {
  const window = () => windows[number] as Embedding

  test('shows the widgets of both programs, each once, with its own name, value and place', async () => {
    const state = await whole(window())
    expect(labels(state)).toEqual(programsOf(window()).flatMap(labelsOf))
    expect(state.partial).toBeNull()
    const ready = window()
      .journal.entries()
      .filter(({ type }) => type === 'ready')
    for (const program of programsOf(window())) {
      expect(found(state, `Field ${program}`).value).toBe(`text of ${program}`)
      expect(found(state, `Level ${program}`).value).toBe('0')
      expect(found(state, `Check ${program}`).value).toBe('unchecked')
      const places = ready.find((entry) => entry.program === program)?.places as Record<string, number[]>
      for (const label of labelsOf(program)) {
        const { x, y, w, h } = found(state, label).frame
        expect([label, [x, y, w, h]]).toEqual([label, places[label] as number[]])
      }
    }
    expect(new Set(state.elements.map(({ element_token }) => element_token)).size).toBe(state.elements.length)
  })

  test('presses and sets what belongs to each program, and no other one hears of it', async () => {
    for (const program of programsOf(window())) {
      const marks = windows.map(({ journal }) => journal.mark())
      const said = () => windows.flatMap(({ journal }, at) => journal.entries(marks[at] ?? 0))
      const of = async (kind: string) => {
        const { element_token } = found(await whole(window()), `${kind} ${program}`)
        return { ...targetOf(window()), element_token }
      }
      const expected: Entry[] = []
      const says = async (type: string, facts: Record<string, unknown> = {}) => {
        expected.push({ type, program, ...facts })
        await until(`${program} to say ${type}`, () => said().length >= expected.length)
        expect(said()).toEqual(expected)
      }
      expect(await client.ask('click', await of('Press'))).toMatchObject({ route: 'accessibility' })
      await says('clicked')
      expect(await client.ask('set_value', { ...(await of('Level')), value: '7' })).toMatchObject({ value: '7' })
      await says('level', { value: 7 })
      expect(await client.ask('click', await of('Check'))).toMatchObject({ route: 'accessibility' })
      await says('check', { value: true })
      await client.ask('set_value', { ...(await of('Field')), value: `new in ${program}` })
      await until('the text', () => said().some(({ value }) => value === `new in ${program}`))
      expect(said().slice(expected.length)).toSatisfy((rest: readonly Entry[]) =>
        rest.every((entry) => entry.type === 'field' && entry.program === program),
      )
      const state = await whole(window())
      expect(found(state, `Field ${program}`).value).toBe(`new in ${program}`)
      expect(found(state, `Level ${program}`).value).toBe('7')
      expect(found(state, `Check ${program}`).value).toBe('checked')
    }
  })

  test('is read without the program inside while that is stopped, and with it as soon as it goes on', async () => {
    const before = await whole(window())
    process.kill(window().insidePid, 'SIGSTOP')
    try {
      const [stopped, other] = await Promise.all([
        look(window(), { timeout_ms: 2_000 }),
        look(windows[(number + 1) % windows.length] as Embedding),
      ])
      expect(stopped.partial).toContain(`the program with pid ${window().insidePid} that is embedded in the window`)
      expect(labels(stopped).toSorted()).toEqual(labelsOf(window().name).toSorted())
      for (const label of labelsOf(window().name)) {
        const { value, frame, element_token } = found(before, label)
        expect(found(stopped, label)).toMatchObject({ value, frame, element_token })
      }
      expect(other.partial).toBeNull()
      expect(labels(other)).toHaveLength(kinds.length * 2)
      const { element_token } = found(before, `Press ${insideOf(window())}`)
      const press = await client.call('click', { ...targetOf(window()), element_token })
      expect(press.structured).toMatchObject({ code: expect.any(String) })
    } finally {
      process.kill(window().insidePid, 'SIGCONT')
    }
    expect(labels(await whole(window())).toSorted()).toEqual(labels(before).toSorted())
  })
})

test('every read ends while the program inside is stopped, goes on and is killed', async () => {
  const [north, ...others] = windows as [Embedding, ...Embedding[]]
  await Promise.all(windows.map(whole))
  const reads = Array.from({ length: 12 }, () => windows.map((each) => look(each, { timeout_ms: 1_000 }))).flat()
  for (const signal of ['SIGSTOP', 'SIGCONT', 'SIGSTOP'] as const) {
    process.kill(north.insidePid, signal)
    reads.push(...windows.map((each) => look(each, { timeout_ms: 1_000 })))
    await reads[reads.length - 1]
  }
  process.kill(north.insidePid, 'SIGKILL')
  const states = await Promise.all(reads)
  for (const [at, state] of states.entries()) {
    const { name } = windows[at % windows.length] as Embedding
    const strange = labels(state).filter((label) => !label.includes(name))
    expect(strange).toEqual([])
    expect(labels(state)).toEqual(expect.arrayContaining(labelsOf(name)))
  }
  await north.journal.waitFor('the window to lose the program', ({ type }) => type === 'unplugged')
  const left = await until('a tree without it', async () => {
    const state = await look(north)
    return labels(state).length === kinds.length && state
  })
  expect(labels(left).toSorted()).toEqual(labelsOf('North').toSorted())
  expect(left.partial).toBeNull()
  for (const other of others) expect(labels(await look(other))).toHaveLength(kinds.length * 2)
})
