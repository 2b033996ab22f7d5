/** What a replay acts on: the processes, windows and elements that stand for the recorded ones. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { replay as limits } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import { windowOrFrontmost } from '../action/target.ts'
import { type Call, viewersOf } from '../context.ts'
import { reasonOf } from '../ending.ts'
import { refreshedMap } from '../observation/trees.ts'
import { type Located, likeness, locate } from './locator.ts'
import type { RecordedAction, RecordedTurn } from './trajectory.ts'

/** What was used in place of what was recorded. */
export interface Resolved {
  readonly window?: {
    readonly window_id: number
    readonly title: string
    readonly how: string
    readonly confidence: number
  }
  readonly element?: Located
}

type Args = Readonly<Record<string, unknown>>

/** Which processes and windows stand for recorded ones, as far as is known. */
export class ReplayTargets {
  readonly #pids = new Map<number, number>()
  readonly #windows = new Map<number, number>()

  constructor(
    private readonly call: Call,
    /** Whether windows and elements are looked for by what they are. */
    private readonly resolves: boolean,
  ) {}

  /** Learns from a call that was done again, above all from a launch. */
  learn(then: RecordedAction['result'], now: Args): void {
    const pair = (map: Map<number, number>, name: string, [a, b]: readonly [Args, Args]) => {
      const [from, to] = [a[name], b[name]]
      if (typeof from === 'number' && typeof to === 'number' && from > 0 && to > 0) map.set(from, to)
    }
    if (!then) return
    pair(this.#pids, 'pid', [then, now])
    pair(this.#windows, 'window_id', [then, now])
    const [before, after] = [then.windows, now.windows]
    if (!Array.isArray(before) || !Array.isArray(after)) return
    for (const [at, window] of before.entries()) if (after[at]) pair(this.#windows, 'window_id', [window, after[at]])
  }

  /**
   * The arguments of a turn as they are now. Throws `stale_element` for an element where elements are not looked for, or
   * where none is like it, and `window_not_found`.
   */
  async argumentsOf({ turn, action }: RecordedTurn): Promise<{ readonly args: Args; readonly resolved: Resolved }> {
    const mapped = this.#mapped(action)
    const namesElement = mapped.element_index !== undefined || mapped.element_token !== undefined
    if (!this.resolves) {
      if (namesElement) throw unnamed(turn, mapped)
      return { args: await this.#scaled(action, mapped), resolved: {} }
    }
    const window =
      mapped.window_id === undefined ? undefined : await this.#appearing(() => this.#window(action, mapped))
    const placed =
      window === undefined ? mapped : { ...mapped, window_id: window.window.window_id, pid: window.window.pid }
    const how = window && {
      window: {
        window_id: window.window.window_id,
        title: window.window.title,
        how: window.how,
        confidence: window.confidence,
      },
    }
    if (!namesElement)
      return { args: await this.#scaled(action, await this.#withProcess(action, placed)), resolved: how ?? {} }
    const { locator } = action
    if (!locator || window === undefined) throw unnamed(turn, mapped)
    const element = await this.#appearing(async () => {
      const map = await refreshedMap(this.call, window.window)
      return locate(map.markdown(null, false), locator)
    })
    if (element === undefined) throw gone(turn, locator.role, locator.name, window.window)
    const { element_token: _, ...rest } = placed
    return { args: { ...rest, element_index: element.element_index }, resolved: { ...how, element } }
  }

  #mapped({ arguments: args }: RecordedAction): Args {
    const { pid, window_id } = args
    return {
      ...args,
      ...(typeof pid === 'number' && { pid: this.#pids.get(pid) ?? pid }),
      ...(typeof window_id === 'number' && { window_id: this.#windows.get(window_id) ?? window_id }),
    }
  }

  /** The process of a call that names no window: the one of the same application, where the recorded one is gone. */
  async #withProcess({ window, arguments: { pid } }: RecordedAction, args: Args): Promise<Args> {
    if (typeof args.pid !== 'number' || args.window_id !== undefined || this.#pids.has(pid as number)) return args
    const windows = await (await this.call.driver.desktop()).windows()
    const same =
      windows.find((each) => each.pid === args.pid) ?? windows.find((each) => each.app_name === window?.app_name)
    return same === undefined ? args : { ...args, pid: same.pid }
  }

  async #window(
    { window: then }: RecordedAction,
    args: Args,
  ): Promise<{ window: Window; how: string; confidence: number } | undefined> {
    const windows = await (await this.call.driver.desktop()).windows()
    const same = windows.find(({ window_id, pid }) => window_id === args.window_id && pid === args.pid)
    if (same !== undefined && (then?.title === undefined || this.#isKnown(same))) {
      return { window: same, how: 'same', confidence: 1 }
    }
    const scored = windows
      .filter(({ pid, app_name }) => pid === args.pid || app_name === then?.app_name)
      .map((window) => {
        const isTitled = window.title === then?.title
        const title = isTitled ? 1 : likeness(window.title, then?.title ?? '')
        const score = (window.pid === args.pid ? 0.3 : 0) + (window.kind === then?.kind ? 0.2 : 0) + 0.3 * title
        const id = window.window_id === args.window_id ? 0.2 : 0
        return { window, how: isTitled ? 'same title' : 'like it', confidence: Math.round((score + id) * 100) / 100 }
      })
      .sort((a, b) => b.confidence - a.confidence)
    const [best] = scored
    return best !== undefined && best.confidence >= 0.4 ? best : undefined
  }

  /** A window of this replay's own processes, which no other can be mistaken for. */
  #isKnown({ window_id }: Window): boolean {
    return this.#windows.size === 0 || [...this.#windows.values()].includes(window_id)
  }

  /** Picture pixels of then are picture pixels of now. */
  async #scaled({ scale = 1 }: RecordedAction, args: Args): Promise<Args> {
    const { pid, window_id, from_zoom } = args
    const lengths = ['x', 'y', 'from_x', 'from_y', 'to_x', 'to_y'].filter((name) => typeof args[name] === 'number')
    if (typeof pid !== 'number' || lengths.length === 0 || from_zoom === true) return args
    const window = await windowOrFrontmost(this.call, pid, typeof window_id === 'number' ? window_id : undefined)
    const factor = this.call.driver.windowCache.scale(pid, window.window_id, viewersOf(this.call)) / scale
    return { ...args, ...Object.fromEntries(lengths.map((name) => [name, Number(args[name]) * factor])) }
  }

  /** What is looked for, as soon as it is there; `undefined` where it does not come. */
  async #appearing<T>(find: () => Promise<T | undefined>): Promise<T | undefined> {
    const deadline = performance.now() + limits.appearsMs
    for (;;) {
      const found = await find()
      if (found !== undefined || performance.now() > deadline) return found
      if (this.call.signal.aborted) throw reasonOf(this.call.signal)
      await pause(limits.pollIntervalMs)
    }
  }
}

const unnamed = (turn: string, { element_index, element_token }: Args): Failure =>
  new Failure(
    'stale_element',
    `${turn} names ${element_index === undefined ? `element_token "${element_token}"` : `element_index ${element_index}`}, which means nothing after its session. Pass resolve_elements: true to find the element by role, name and path.`,
    { turn, element_index: element_index ?? null },
  )

const gone = (turn: string, role: string, name: string, { window_id, title }: Window): Failure =>
  new Failure(
    'stale_element',
    `${turn} acts on ${role} "${name}", and window ${window_id} "${title}" has none like it. Bring the application to where the recording began, then replay again.`,
    { turn, window_id, role, name },
  )
