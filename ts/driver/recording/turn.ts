/** One turn of a recording: what was called, what it acted on, what came of it, and how that looked. */
import { Failure } from '@backlot/contract/failure'
import type { AxSnapshot, Window } from '@backlot/native'
import { centreOf } from '../action/target.ts'
import { hasPassword, isPassword, isTyping, typedTexts, typing, withoutTyped } from '../action/typing.ts'
import type { ActedOn } from '../notes.ts'
import { mask, Secrets } from '../secrets/secrets.ts'
import type { ShortSecrets } from '../secrets/short-secrets.ts'
import type { Outcome, Tool } from '../tool/tool.ts'
import type { Application, WindowTree } from './application.ts'
import { type Locator, locatorOf } from './locator.ts'

/** A recorded call that is over. */
export interface RecordedCall {
  readonly tool: Tool
  /** As they were checked, defaults included. */
  readonly args: Readonly<Record<string, unknown>>
  readonly session: string | null
  readonly started_at: Date
  readonly duration_ms: number
  readonly outcome: Outcome | Failure
  readonly actedOn: ActedOn
  /** Picture pixels per window pixel, in which its coordinates are given. */
  readonly scale: number
}

/** A point that was pressed: in pixels of the window, and of the screen. */
export interface ClickPoint {
  readonly x: number
  readonly y: number
  readonly window_id: number
  readonly screen_x: number
  readonly screen_y: number
}

/** Where the pointer pressed, or the middle of the element that was pressed through its toolkit. */
export const clickPointOf = ({ tool, actedOn: { window, target, point } }: RecordedCall): ClickPoint | undefined => {
  if (tool.attributes.clicks !== true || window === undefined) return undefined
  const at = point ?? (target && centreOf(target))
  if (at === undefined) return undefined
  const { window_id, x, y } = window
  // Without a place on the screen there is none to mark.
  if (x === null || y === null) return undefined
  return { ...at, window_id, screen_x: x + at.x, screen_y: y + at.y }
}

/** The process of an action, `undefined` where it has none. */
export const pidOf = ({ args, outcome, actedOn }: RecordedCall): number | undefined => {
  const said = outcome instanceof Failure ? undefined : outcome.structured.pid
  const pid = [args.pid, actedOn.window?.pid, said].find((each) => typeof each === 'number' && each > 0)
  return pid as number | undefined
}

/** What a turn holds but for its number. */
export interface Turn {
  readonly action: Readonly<Record<string, unknown>>
  /** app_state.json. */
  readonly state: string
  readonly application: Application
  readonly click: ClickPoint | undefined
  readonly isSecret: boolean
}

/**
 * Puts a turn together; adds to `secrets`, and to those that are `short` and masked in this call alone, what went into a
 * password field that only its trees show.
 */
export const turnOf = async (
  done: RecordedCall,
  application: Application,
  secrets: Secrets,
  short: ShortSecrets,
): Promise<Turn> => {
  const { tool, args, outcome, actedOn } = done
  const trees = await application.trees
  // What follows may take long on a large tree: not before the answer has left.
  await new Promise(setImmediate)
  const isSecret = typesSecret(done, trees)
  const own = isSecret ? typedTexts(tool, args) : []
  secrets.add(...own)
  short.add(...own)
  const known = secrets.without(args) as RecordedCall['args']
  // A secret that is typed once more, whatever it is typed into.
  const isAgain = JSON.stringify(known) !== JSON.stringify(new Secrets().without(args))
  const hidden = isSecret ? withoutTyped(tool, args) : { args: known, names: isAgain ? typing(tool) : [] }
  const isKept = hidden.names.length > 0
  const click = clickPointOf(done)
  // What the turn's own arguments are not shown for is not shown around it either; others are told by their names.
  const masked = (value: unknown) => (isSecret ? short.without(secrets.without(value)) : secrets.without(value))
  const action = {
    tool: tool.name,
    arguments: hidden.args,
    ...(isKept && { secret_arguments: hidden.names }),
    ...resultOf(outcome, isKept, secrets, short),
    pid: pidOf(done) ?? null,
    click_point: click ?? null,
    timestamp: done.started_at.toISOString(),
    duration_ms: Math.round(done.duration_ms),
    session: done.session,
    scale: done.scale,
    window: actedOn.window ? masked(windowFacts(actedOn.window)) : null,
    locator: masked(locatorIn(actedOn) ?? null),
  }
  return { action, state: stateOf(done, application, trees, secrets, short), application, click, isSecret: isKept }
}

/** Whether the call typed what no file may hold. */
const typesSecret = ({ tool, args, outcome, actedOn }: RecordedCall, trees: readonly WindowTree[]): boolean => {
  if (typing(tool).length === 0) return false
  if (args.secret === true) return true
  if (!typesText(args)) return false
  const { target } = actedOn
  if (target !== undefined) return isPassword(target.element)
  // What names no element goes to what has the focus, which a character does not move.
  const seen = trees.filter(
    ({ window }) => actedOn.window === undefined || window.window_id === actedOn.window.window_id,
  )
  const focused = seen.flatMap(({ snapshot }) => {
    const index = snapshot?.focused() ?? undefined
    return (index === undefined ? undefined : snapshot?.element(index)) ?? []
  })
  if (focused.some(isPassword)) return true
  // In the background the focus may not be told: then it may be any password field that is there.
  const mayBe = focused.length === 0 && seen.some(({ snapshot }) => hasPassword(snapshot?.markdown(null, false) ?? ''))
  // What failed before it was known where it would go may have been meant for a password field.
  return mayBe || outcome instanceof Failure
}

/** False for keys that type nothing, as return and ctrl+s. */
const typesText = ({ key, keys, modifiers = [] }: Readonly<Record<string, unknown>>): boolean => {
  const pressed = Array.isArray(keys)
    ? keys.map(String)
    : [...(modifiers as readonly unknown[]).map(String), ...(key === undefined ? [] : [String(key)])]
  const last = pressed.at(-1)
  if (last === undefined) return true
  return isTyping(last) && pressed.slice(0, -1).every((held) => held.toLowerCase() === 'shift')
}

const resultOf = (outcome: Outcome | Failure, isSecret: boolean, secrets: Secrets, short: ShortSecrets) => {
  if (outcome instanceof Failure) {
    const { code, message } = outcome
    const error = { code, message: isSecret ? mask : short.maskedIn(secrets.masked(message)) }
    return { ok: false, result_summary: error.message, effect: null, result: null, error }
  }
  const { effect, route, pid, window_id, element_index } = outcome.structured
  const facts = isSecret ? { effect, route, pid, window_id, element_index } : outcome.structured
  return {
    ok: true,
    result_summary: isSecret ? `✅ ${mask}` : short.maskedIn(secrets.masked(outcome.text.split('\n', 1)[0] ?? '')),
    effect: effect ?? null,
    result: short.without(secrets.without(facts)),
  }
}

/** What says which window it was, also when its number has been given to another. */
export const windowFacts = ({ window_id, pid, app_name, title, kind, bounds, is_on_screen }: Window) => ({
  window_id,
  pid,
  app_name,
  title,
  kind,
  bounds,
  is_on_screen,
})

const locatorIn = ({ target }: ActedOn): Locator | undefined =>
  target && locatorOf(target.snapshot.markdown(null, false), target.index)

/** app_state.json. */
const stateOf = (
  done: RecordedCall,
  { taken_at, windows, missing }: Application,
  trees: readonly WindowTree[],
  secrets: Secrets,
  short: ShortSecrets,
): string => {
  const reasonOf = (reason: string | undefined) =>
    JSON.stringify(reason === undefined ? null : short.maskedIn(secrets.masked(reason)))
  const textOf = ({ window, snapshot, reason }: WindowTree): string => {
    const facts = JSON.stringify(short.without(secrets.without(windowFacts(window)))).slice(1, -1)
    if (snapshot === undefined) return `${facts},"reason":${reasonOf(reason)}`
    const elements = elementsOf(snapshot, secrets, short)
    const markdown = JSON.stringify(short.maskedIn(secrets.maskedTree(snapshot.markdown(null, false))))
    const counts = `"element_count":${snapshot.element_count},"partial":${JSON.stringify(snapshot.partial)}`
    return `${facts},${counts},"tree_markdown":${markdown},"elements":${elements}`
  }
  const [front, ...others] = trees.map(textOf)
  const none = `"pid":${pidOf(done) ?? null},"tree_markdown":null,"elements":[],"reason":${reasonOf(missing)}`
  const facts = [
    `"taken_at":"${taken_at.toISOString()}"`,
    `"windows_left_out":${windows.length - trees.length}`,
    `"windows":[${others.map((text) => `{${text}}`).join(',')}]`,
  ]
  return `{${facts.join(',')},${front ?? none}}\n`
}

/** Trees are long: where nothing has to be masked, their JSON is taken as the core made it. */
const elementsOf = (snapshot: AxSnapshot, secrets: Secrets, short: ShortSecrets): string => {
  const raw = snapshot.elements(null)
  return secrets.isEmpty && short.isEmpty ? raw : JSON.stringify(short.without(secrets.without(JSON.parse(raw))))
}
