/** What can be waited for: how each condition is looked at, and what its next look waits for. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { waiting as limits } from '@backlot/contract/limits'
import type { AxSnapshot, Window } from '@backlot/native'
import { elementOf, nameOf, windowById, windowOf, windowOrFrontmost } from '../action/target.ts'
import type { Call } from '../context.ts'
import { withElementIndex } from './tokens.ts'
import { refreshedMap } from './trees.ts'

/** What one look found. */
export interface Reading {
  readonly met: boolean
  /** In words, for the summary. */
  readonly saw: string
  readonly facts?: Readonly<Record<string, unknown>>
}

/** A condition in one place. */
export interface Condition {
  /** What is waited for, in words. */
  readonly what: string
  read(): Promise<Reading>
  /** Waits until another look may find something else, for at most so many milliseconds. */
  next(timeoutMs: number): Promise<unknown>
}

interface Args {
  readonly pid?: number
  readonly window_id?: number
  readonly role?: string
  readonly label?: string
  readonly element_index?: number
  readonly element_token?: string
  readonly text?: string
  readonly title?: string
  readonly still_ms: number
}

interface Element {
  readonly element_index: number
  readonly element_token?: string
  readonly role: string
  readonly label: string
  readonly value: string | null
}

/** By the name that a call gives. */
export const conditions = {
  element: (call: Call, args: Args) => element(call, args, true),
  element_gone: (call: Call, args: Args) =>
    args.element_index === undefined && args.element_token === undefined
      ? orWindowGone(call, args, (...given) => element(...given, false))
      : orWindowGone(call, args, thisElementGone),
  text: (call: Call, args: Args) => text(call, args, true),
  text_gone: (call: Call, args: Args) => orWindowGone(call, args, (...given) => text(...given, false)),
  window: (call: Call, args: Args) => windowTitled(call, args, true),
  window_gone: (call: Call, args: Args) => windowTitled(call, args, false),
  still: (call: Call, args: Args) => pixelsStill(call, args),
} satisfies Record<string, (call: Call, args: Args) => Promise<Condition>>

const needs = (argument: string, type: string): Failure =>
  new Failure('missing_argument', `Missing required ${type} field: ${argument}`, { argument })

const holds = (whole: string, part: string | undefined): boolean =>
  part === undefined || whole.toLowerCase().includes(part.toLowerCase())

/** The end of something in a window, which the end of the window is too, also where that came before the first look. */
const orWindowGone = async (
  call: Call,
  args: Args,
  condition: (call: Call, args: Args) => Promise<Condition>,
): Promise<Condition> => {
  const { pid } = args
  let { window_id } = args
  /** What that says where it failed because the window is no longer there. */
  const orGone = async (error: unknown): Promise<Reading> => {
    const patienceMs = endingCodes.has(Failure.from(error).code) ? endingMs : 0
    if (window_id === undefined || !(await isGone(call, window_id, patienceMs))) throw error
    return { met: true, saw: `window ${window_id} is closed`, facts: { pid, window_id } }
  }
  // The frontmost window may be another one later.
  if (pid !== undefined)
    window_id = (await windowOrFrontmost(call, pid, window_id).catch(() => undefined))?.window_id ?? window_id
  try {
    const watched = await condition(call, { ...args, ...(window_id !== undefined && { window_id }) })
    return { ...watched, read: () => watched.read().catch(orGone) }
  } catch (error) {
    const gone = await orGone(error)
    return { what: 'the end of a window', next: async () => undefined, read: async () => gone }
  }
}

/** What an application that ends gives: its connection to the accessibility bus goes before its windows. */
const endingCodes: ReadonlySet<string> = new Set(['accessibility_failed', 'not_accessible'])

/** Milliseconds between the two at most. */
const endingMs = 2_000

/** Whether a window is closed, now or within `patienceMs`. */
const isGone = async (call: Call, window_id: number, patienceMs: number): Promise<boolean> => {
  const desktop = await call.driver.desktop()
  const deadline = performance.now() + patienceMs
  for (;;) {
    const changes = desktop.changes()
    try {
      await windowById(call, window_id)
    } catch (error) {
      return Failure.from(error).code === 'window_not_found'
    }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await desktop.waitForChange(changes, Math.ceil(leftMs))
  }
}

/** The tree of a window, read again whenever its application has announced something and gone quiet. */
const treeOf = async (call: Call, { pid, window_id, label }: Args) => {
  if (pid === undefined) throw needs('pid', 'integer')
  const first = await windowOrFrontmost(call, pid, window_id)
  const accessibility = await call.driver.accessibility()
  let generation = 0
  return {
    window: first,
    async read(): Promise<{ readonly window: Window; readonly tree: AxSnapshot }> {
      generation = accessibility.generation(pid)
      const window = await windowOf(call, pid, first.window_id)
      return { window, tree: await refreshedMap(call, window, true, label) }
    },
    async next(timeoutMs: number): Promise<void> {
      const now = await accessibility.waitForEvent(pid, generation, Math.ceil(timeoutMs))
      if (now !== generation) await accessibility.settled(pid, limits.quietMs, limits.settleMs)
    },
  }
}

const element = async (call: Call, args: Args, isWanted: boolean): Promise<Condition> => {
  const { role, label } = args
  if (role === undefined && label === undefined) throw needs('label (or role)', 'string')
  const tree = await treeOf(call, args)
  const named = [role, label === undefined ? undefined : `"${label}"`].filter((word) => word !== undefined).join(' ')
  return {
    what: `${isWanted ? 'an element' : 'the end of every element'} ${named} in window ${tree.window.window_id}`,
    next: tree.next,
    async read() {
      const { window, tree: snapshot } = await tree.read()
      const all = JSON.parse(snapshot.elements(label ?? null)) as Element[]
      const found = all.filter((each) => each.role.toLowerCase() === (role ?? each.role).toLowerCase())
      const matching = found.filter((each) => holds(each.label, label))
      const [first] = matching
      if (first === undefined) {
        const saw = `${snapshot.element_count} elements, none of them ${named}`
        return { met: !isWanted, saw, facts: { window_id: window.window_id, element_count: snapshot.element_count } }
      }
      const saw = `${matching.length} element(s): ${matching.slice(0, 3).map(shown).join(', ')}`
      if (!isWanted) return { met: false, saw, facts: { window_id: window.window_id } }
      return { met: true, saw, facts: { pid: window.pid, window_id: window.window_id, elements: matching } }
    },
  }
}

const shown = ({ element_index, role, label }: Element): string => `[element_index ${element_index}] ${role} "${label}"`

const thisElementGone = async (call: Call, args: Args): Promise<Condition> => {
  const { pid, window_id, element_index, element_token } = args
  if (pid === undefined) throw needs('pid', 'integer')
  const found = await withElementIndex(call, { ...args, pid })
    .then((args) => elementOf(call, args))
    .catch(unlessStale)
  if (found === undefined) {
    const saw = `the element ${element_token ?? element_index} is gone`
    const facts = { pid, window_id, element_index }
    return { what: 'the end of an element', next: async () => undefined, read: async () => ({ met: true, saw, facts }) }
  }
  const { target } = found
  const tree = await treeOf(call, args)
  return {
    what: `the end of ${nameOf(target)}`,
    next: tree.next,
    async read() {
      const read = await target.snapshot.read(target.index).catch((error) => {
        if (Failure.from(error).code === 'stale_element') return undefined
        throw error
      })
      const facts = { pid, window_id, element_index }
      return read === undefined
        ? { met: true, saw: `${nameOf(target)} is gone`, facts }
        : { met: false, saw: `${nameOf(target)} is still there`, facts }
    },
  }
}

const unlessStale = (error: unknown): undefined => {
  if (Failure.from(error).code !== 'stale_element') throw error
}

const text = async (call: Call, args: Args, isWanted: boolean): Promise<Condition> => {
  const { text: part } = args
  if (part === undefined) throw needs('text', 'string')
  const tree = await treeOf(call, args)
  return {
    what: `the ${isWanted ? '' : 'end of the '}text "${part}" in window ${tree.window.window_id}`,
    next: tree.next,
    async read() {
      const { window, tree: snapshot } = await tree.read()
      const lines = snapshot
        .markdown(part, false)
        .split('\n')
        .filter((line) => holds(line, part))
      const facts = {
        pid: window.pid,
        window_id: window.window_id,
        lines: lines.slice(0, 5).map((line) => line.trim()),
      }
      const saw =
        lines.length === 0 ? `no line that holds "${part}"` : `${lines.length} line(s): ${facts.lines.join(' / ')}`
      return { met: lines.length > 0 === isWanted, saw, facts }
    },
  }
}

const windowTitled = async (call: Call, { pid, window_id, title }: Args, isWanted: boolean): Promise<Condition> => {
  if (title === undefined && pid === undefined && window_id === undefined) throw needs('title', 'string')
  const desktop = await call.driver.desktop()
  let changes = 0
  const words = [
    window_id === undefined ? '' : ` ${window_id}`,
    title === undefined ? '' : ` "${title}"`,
    pid === undefined ? '' : ` of pid ${pid}`,
  ].join('')
  return {
    what: `${isWanted ? 'a window' : 'the end of every window'}${words}`,
    async next(timeoutMs) {
      changes = await desktop.waitForChange(changes, Math.ceil(timeoutMs))
    },
    async read() {
      changes = desktop.changes()
      const windows = (await desktop.windows()).filter(
        (each) =>
          (pid === undefined || each.pid === pid) &&
          (window_id === undefined || each.window_id === window_id) &&
          holds(each.title, title),
      )
      const names = windows.slice(0, 3).map((each) => `window ${each.window_id} "${each.title}"`)
      const saw = windows.length === 0 ? `no window${words}` : names.join(', ')
      return { met: windows.length > 0 === isWanted, saw, facts: { windows } }
    },
  }
}

const pixelsStill = async (call: Call, { pid, window_id, still_ms }: Args): Promise<Condition> => {
  if (pid === undefined) throw needs('pid', 'integer')
  const window = await windowOrFrontmost(call, pid, window_id)
  const capturer = await call.driver.capturer()
  let [digest, since] = ['', 0]
  let changes = -1
  return {
    what: `pixels that stay for ${still_ms} ms in window ${window.window_id}`,
    next: (timeoutMs) => pause(Math.min(timeoutMs, Math.max(limits.digestEveryMs, still_ms / 10))),
    async read() {
      const now = await capturer.digest(window.window_id, null)
      if (now !== digest) {
        ;[digest, since] = [now, performance.now()]
        changes += 1
      }
      const still_for_ms = Math.round(performance.now() - since)
      const facts = { pid, window_id: window.window_id, still_for_ms, changes }
      return {
        met: still_for_ms >= still_ms,
        saw: `${changes} change(s), then stillness for ${still_for_ms} ms`,
        facts,
      }
    },
  }
}
