/** What changed in a window: since a snapshot that its caller knows, and after an action. */
import { Failure } from '@backlot/contract/failure'
import { environment, observation as limits } from '@backlot/contract/limits'
import type { AxSnapshot, Window } from '@backlot/native'
import { windowOf } from '../action/target.ts'
import type { Call } from '../context.ts'
import type { Outcome } from '../tool/tool.ts'
import type { TreeLimits } from './elements.ts'
import { defaultLimits, readTree } from './trees.ts'

/** What became of the elements, and of other text that is shown. */
export interface Changes {
  readonly added: readonly object[]
  readonly changed: readonly object[]
  readonly removed: readonly object[]
  readonly moved: number
  readonly unchanged: number
}

/** Changes with the snapshot that they lead to, for the result and for the text. */
export interface ObservedChanges {
  readonly snapshot: AxSnapshot
  readonly facts: Changes & { readonly since: string; readonly snapshot_id: string }
  /** One line a change, after a line that counts them. */
  readonly lines: readonly string[]
}

/** True when trees carry short tags. */
export const hasShortTags = async (call: Call): Promise<boolean> =>
  (process.env[environment.elementTags] ?? (await call.config()).element_tags) === 'short'

/**
 * The window's tree as what changed since the snapshot of that id (the latest when none is named), with indices that stay;
 * `undefined` when there is no such snapshot.
 */
export const changesSince = async (
  call: Call,
  { pid, window_id }: Window,
  tree: AxSnapshot,
  limits: TreeLimits,
  id?: string,
): Promise<ObservedChanges | undefined> => {
  const { windowCache } = call.driver
  const base = windowCache.returnedSnapshot(pid, window_id, id)
  if (base === undefined) return undefined
  const map =
    windowCache.returnedSnapshot(pid, window_id) === base ? windowCache.snapshot(pid, window_id) : base.snapshot
  const snapshot = tree.keepingIndices(map ?? base.snapshot)
  const changes: Changes = JSON.parse(snapshot.changesSince(base.snapshot))
  const markdown = snapshot.changesMarkdown(base.snapshot, await hasShortTags(call))
  const { added, changed, removed, moved, unchanged } = changes
  const counts = `changes since ${base.id}: ${added.length} added, ${changed.length} changed, ${removed.length} removed, ${moved} moved, ${unchanged} unchanged`
  return {
    snapshot,
    facts: {
      since: base.id,
      snapshot_id: windowCache.keepSnapshot(pid, window_id, snapshot, limits),
      ...changes,
    },
    lines: [counts, ...(markdown === '' ? [] : [markdown.trimEnd()])],
  }
}

/** The outcome of an action with what changed in its window, when the caller asked for it. */
export const observed = async (
  call: Call,
  args: Readonly<Record<string, unknown>>,
  outcome: Outcome,
): Promise<Outcome> => {
  if (args.observe !== true) return outcome
  const { pid, window_id } = { ...args, ...outcome.structured } as { pid?: number; window_id?: number }
  if (pid === undefined || window_id === undefined) return withObservation(outcome, nothing('the action had no window'))
  try {
    return withObservation(outcome, await observation(call, pid, window_id))
  } catch (error) {
    // The action is done: that nothing can be seen of it must not look like its failure.
    return withObservation(outcome, nothing(Failure.from(error).message))
  }
}

interface AnswerPart {
  readonly facts: object
  readonly lines: readonly string[]
}

const nothing = (reason: string): AnswerPart => ({ facts: { reason }, lines: [`observation: ${reason}`] })

const withObservation = (outcome: Outcome, { facts, lines }: AnswerPart): Outcome => ({
  ...outcome,
  text: [outcome.text, ...lines].join('\n'),
  structured: { ...outcome.structured, observation: facts },
})

const observation = async (call: Call, pid: number, window_id: number): Promise<AnswerPart> => {
  const { windowCache } = call.driver
  const accessibility = await call.driver.accessibility()
  const { observe_timeout_ms } = await call.config()
  const settled = await accessibility.settled(pid, limits.quietMs, observe_timeout_ms)
  const window = await windowOf(call, pid, window_id)
  const treeLimits = windowCache.limits(pid, window_id) ?? defaultLimits
  const tree = await readTree(call, window, treeLimits)
  const changed = await changesSince(call, window, tree, treeLimits)
  if (changed !== undefined) return { facts: { settled, ...changed.facts }, lines: changed.lines }
  const snapshot_id = windowCache.keepSnapshot(pid, window_id, tree, treeLimits)
  const markdown = tree.markdown(null, await hasShortTags(call))
  return {
    facts: { settled, since: null, snapshot_id, elements: JSON.parse(tree.elements(null)) },
    lines: ['the window had no earlier snapshot; the whole tree:', markdown.trimEnd()],
  }
}
