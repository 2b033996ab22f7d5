/** Our tree of a window against an independent walk of the same accessibility bus. */
import { join } from 'node:path'
import { python } from './applications.ts'
import type { TestDesktop } from './desktop.ts'
import { type ListedElement, type ListedWindow, windowsOf } from './look.ts'
import type { McpClient } from './mcp-client.ts'
import { until } from './until.ts'
import { boundsOf } from './witness/index.ts'

/** What the walk found that a person can operate; extents are x, y, width, height in the window. */
export interface Operable {
  readonly role: string
  readonly name: string
  readonly extents: readonly [number, number, number, number] | null
}

/** What a comparison found. */
export interface Comparison {
  /** How many nodes were compared. */
  readonly compared: number
  /** Those that our tree lacks. */
  readonly missing: readonly string[]
  /** Those that are elsewhere in our tree by more than a pixel. */
  readonly displaced: readonly string[]
}

const walked = async (on: TestDesktop, pid: number, title: string, id: number): Promise<readonly Operable[]> => {
  const witness = join(import.meta.dir, 'witness/operable.py')
  const { x, y } = await boundsOf(on, id)
  const { status, stdout, stderr } = await on.run([python, witness, String(pid), title, String(x), String(y)])
  if (status !== 0) throw new Error(`the walk of "${title}": ${stderr}`)
  return JSON.parse(stdout) as Operable[]
}

const nearly = (a: readonly number[], b: readonly number[]): boolean =>
  a.every((number, at) => Math.abs(number - (b[at] ?? Number.NaN)) <= 1)

/** Compares the window of a process once its tree stands still; a part of its title tells it from others. */
export const compareTree = async (on: TestDesktop, client: McpClient, pid: number, title = ''): Promise<Comparison> => {
  const window = await until(`a window of process ${pid}`, async () => {
    const windows = (await windowsOf(client, pid)).filter((each) => each.kind !== 'popup' && each.title.includes(title))
    return windows.sort((a, b) => area(b) - area(a))[0]
  })
  const target = { pid, window_id: window.window_id }
  // A window may be there before its application has joined the accessibility bus.
  await until(`the tree of "${window.title}"`, async () => {
    const state = await client.call('get_window_state', { ...target, capture_mode: 'ax' })
    return Number(state.structured.element_count) > 0
  })
  const look = async () => {
    const slow = { capture_mode: 'ax', timeout_ms: 60_000 }
    return (await client.ask<{ elements: ListedElement[] }>('get_window_state', { ...target, ...slow })).elements
  }
  return until(`the tree of "${window.title}" to stand still`, async () => {
    const before = await look()
    const found = await walked(on, pid, title, window.window_id)
    const after = await look()
    if (found.length === 0 || JSON.stringify(before) !== JSON.stringify(after)) return undefined
    return compare(found, after, window)
  })
}

const area = ({ bounds }: ListedWindow): number => bounds.width * bounds.height

const compare = (found: readonly Operable[], elements: readonly ListedElement[], { bounds }: ListedWindow) => {
  const left = [...elements]
  const missing: string[] = []
  const displaced: string[] = []
  for (const { role, name, extents } of found) {
    const same = left.filter((each) => each.role === role && [each.label, each.value].includes(name))
    const place = ({ frame }: ListedElement) => [frame.x - bounds.x, frame.y - bounds.y, frame.w, frame.h]
    const there = same.find((each) => extents !== null && nearly(place(each), extents))
    const own = there ?? same[0]
    if (own !== undefined) left.splice(left.indexOf(own), 1)
    const line = `${role} "${name}" at ${extents}`
    if (own === undefined) missing.push(line)
    else if (there === undefined && isReal(extents)) displaced.push(`${line}, ours at ${place(own)}`)
  }
  return { compared: found.length, missing, displaced }
}

/** Toolkits give what they have not laid out a size beyond any screen, or none. */
const isReal = (extents: Operable['extents']): boolean =>
  extents !== null && extents[2] > 0 && extents[3] > 0 && extents.every((number) => Math.abs(number) < 100_000)
