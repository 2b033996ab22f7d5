/** Playing a recording again. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import { replay as limits } from '@backlot/contract/limits'
import { Type } from '@sinclair/typebox'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import { absolutePath } from '../paths.ts'
import { ReplayTargets, type Resolved } from '../recording/replay-targets.ts'
import { type RecordedTurn, readTrajectory } from '../recording/trajectory.ts'
import { checkArguments } from '../tool/check.ts'
import { runTool } from '../tool/run-tool.ts'
import { acts, type Outcome, type Tool, tool } from '../tool/tool.ts'

const Arguments = Type.Object({
  dir: Type.String({ minLength: 1, description: 'output_dir of start_recording.' }),
  delay_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.longestDelayMs,
      default: limits.delayMs,
      more: 'Between two turns.',
    }),
  ),
  stop_on_error: Type.Optional(Type.Boolean({ default: true })),
  resolve_elements: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Find windows by title and elements by role, name and path.',
      extension: true,
    }),
  ),
})

/** The calls of the turns in the folder that is named. */
const callsOf = (args: object): { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[] => {
  const { dir } = args as { readonly dir?: unknown }
  if (typeof dir !== 'string') return []
  try {
    return readTrajectory(absolutePath('dir', dir)).map(({ action }) => ({ name: action.tool, args: action.arguments }))
  } catch {
    // The call itself says what is wrong with it.
    return []
  }
}

/** The tool, whose turns call tools that `find` gives; it throws `unknown_tool`. */
export const replayOf = (find: (name: string) => Tool) =>
  tool({
    name: 'replay_trajectory',
    title: 'Replay a recording',
    description:
      'Calls the tool of each recorded turn again, in order. Turns on elements fail. What a replayed launch_app starts stands for the processes and windows of then.',
    arguments: Arguments,
    attributes: { ...acts('accessibility'), recorded: false },
    nested: callsOf,
    async run(call, args) {
      const directory = absolutePath('dir', args.dir)
      const turns = readTrajectory(directory)
      const targets = new ReplayTargets(call, args.resolve_elements === true)
      const reports: Report[] = []
      for (const [at, turn] of turns.entries()) {
        if (at > 0)
          await pause(args.delay_ms ?? limits.delayMs, undefined, { signal: call.signal }).catch(() => undefined)
        if (call.signal.aborted) throw stopped(directory, reports, reasonOf(call.signal))
        const report = await played(find, call, targets, turn)
        reports.push(report.report)
        if (report.failure === undefined) continue
        if (call.signal.aborted) throw stopped(directory, reports, reasonOf(call.signal))
        if (args.stop_on_error !== false) throw stopped(directory, reports, report.failure)
      }
      return summary(directory, reports)
    },
  })

interface Report {
  readonly turn: string
  readonly tool: string
  /** Null for a turn that was not played because it had failed when it was recorded. */
  readonly ok: boolean | null
  readonly summary: string
  readonly effect?: unknown
  readonly code?: string
  readonly resolved?: Resolved
}

const played = async (
  find: (name: string) => Tool,
  call: Call,
  targets: ReplayTargets,
  recorded: RecordedTurn,
): Promise<{ readonly report: Report; readonly failure?: Failure }> => {
  const { turn, action } = recorded
  const named = { turn, tool: action.tool }
  if (action.ok === false)
    return { report: { ...named, ok: null, summary: 'not played: it failed when it was recorded' } }
  let resolved: Resolved = {}
  try {
    const known = find(action.tool)
    refuseUnrecordable(recorded, known.attributes)
    const found = await targets.argumentsOf(recorded)
    resolved = found.resolved
    const { text, structured } = await runTool(call, known, checkArguments(known, found.args))
    targets.learn(action.result, structured)
    return {
      report: { ...named, ok: true, summary: firstLine(text), effect: structured.effect, ...unlessEmpty(resolved) },
    }
  } catch (error) {
    const failure = Failure.from(error)
    return {
      report: { ...named, ok: false, code: failure.code, summary: failure.message, ...unlessEmpty(resolved) },
      failure,
    }
  }
}

const unlessEmpty = (resolved: Resolved): { readonly resolved?: Resolved } =>
  Object.keys(resolved).length === 0 ? {} : { resolved }

const refuseUnrecordable = (
  { turn, action: { tool: name, secret_arguments: secrets = [] } }: RecordedTurn,
  { recorded, readOnly }: Tool['attributes'],
): void => {
  // A call that only looks stands in folders that others wrote, and harms nothing.
  if (!recorded && !readOnly) {
    throw new Failure(
      'invalid_argument',
      `${turn} calls "${name}", which no recording holds. Take the turn out of the folder.`,
      { argument: 'dir' },
    )
  }
  if (secrets.length > 0) {
    throw new Failure(
      'secret_not_recorded',
      `${turn} typed a secret, which the recording does not hold. Type it yourself, and replay the turns before and after it from folders of their own.`,
      { turn, arguments: secrets },
    )
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? ''

const count = (reports: readonly Report[], ok: boolean): number => reports.filter((each) => each.ok === ok).length

const summary = (directory: string, reports: readonly Report[]): Outcome => {
  const [succeeded, failed] = [count(reports, true), count(reports, false)]
  const skipped = reports.length - succeeded - failed
  const headline = `replay ${directory}: attempted=${succeeded + failed} succeeded=${succeeded} failed=${failed}`
  const lines = reports.map(
    ({ turn, tool: name, ok, summary: text }) => `${turn} ${name}: ${ok === false ? '❌ ' : ''}${text}`,
  )
  return {
    text: [headline, ...lines].join('\n'),
    structured: { directory, attempted: succeeded + failed, succeeded, failed, skipped, turns: reports },
  }
}

/** The failure that ends a replay, with the report of all turns until then. */
const stopped = (directory: string, reports: readonly Report[], failure: Failure): Failure => {
  const { text, structured } = summary(directory, reports)
  const isEnded =
    failure.code === 'cancelled' || failure.code === 'paused_by_person' || failure.code === 'session_ended'
  const data = { ...failure.data, ...structured, reason: failure.code }
  return new Failure(isEnded ? failure.code : 'replay_failed', `${text}\n${failure.message}`, data)
}
