/** Several calls in one: what an agent already knows needs no turn in between. */
import { Failure } from '@backlot/contract/failure'
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { Call } from '../context.ts'
import { reasonOf } from '../ending.ts'
import { observed } from '../observation/observe.ts'
import { sessionOf } from '../session/session-name.ts'
import { pid, windowId } from '../tool/arguments.ts'
import { checkArguments } from '../tool/check.ts'
import { runTool } from '../tool/run-tool.ts'
import { acts, type Outcome, type Tool, tool } from '../tool/tool.ts'

/** Calls in one run_steps. */
const mostSteps = 64

const step = Type.Object({
  tool: Type.String({ minLength: 1 }),
  arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  keep: Type.Optional(Type.Boolean({ description: "Return the step's whole result, not only its summary." })),
})

const stepsArguments = Type.Object({
  steps: Type.Array(step, { minItems: 1, maxItems: mostSteps, more: 'Done in order.' }),
  pid: Type.Optional({ ...pid, description: 'For steps that name none.' }),
  window_id: Type.Optional({ ...windowId, more: 'For steps that name none.' }),
})

type Arguments = Static<typeof stepsArguments>

/** The tool, whose steps are tools that `find` gives; it throws `unknown_tool`. */
export const runStepsOf = (find: (name: string) => Tool) =>
  tool({
    name: 'run_steps',
    title: 'Run several steps',
    description: `Runs up to ${mostSteps} calls in one turn: checks all of them first, stops at the first that fails, and reports each. Name elements by element_token. With observe it ends with what changed.`,
    arguments: stepsArguments,
    attributes: { ...acts(), extension: true, recorded: false },
    nested: (args) => {
      const { steps } = args as Partial<Arguments>
      return Array.isArray(steps) ? steps.map((each) => ({ name: each?.tool, args: each?.arguments })) : []
    },
    async run(call, args) {
      const plan = args.steps.map((each, index) => planned(find, each, index, args, call.session))
      const reports: Report[] = []
      for (const [index, { tool: next, checked, keep }] of plan.entries()) {
        try {
          if (call.signal.aborted) throw reasonOf(call.signal)
          reports.push(reportOf(next, await runTool(call, next, checked), keep))
        } catch (error) {
          throw await stoppedAt(call, args, index, plan, reports, Failure.from(error))
        }
      }
      return summary(`✅ ${count(reports.length)} done${confirmed(reports)}`, plan.length, reports)
    },
  })

interface Planned {
  readonly tool: Tool
  readonly checked: Static<TObject>
  readonly keep: boolean
}

interface Report {
  readonly tool: string
  /** Absent where `effect` says it all. */
  readonly text?: string
  readonly effect?: unknown
  readonly result?: unknown
  readonly pid?: unknown
  readonly window_id?: unknown
}

/** A step whose tool and arguments are right, or the failure that says which is not; nothing has been done then. */
const planned = (
  find: (name: string) => Tool,
  given: Static<typeof step>,
  index: number,
  shared: Arguments,
  session: string | undefined,
): Planned => {
  try {
    const found = find(given.tool)
    if (found.nested !== undefined) {
      throw new Failure('invalid_argument', `"${given.tool}" cannot be a step. Put its own steps here.`, {
        argument: 'steps',
      })
    }
    const own = sessionOf(found, given.arguments).session
    if (own !== undefined && own !== session) {
      throw new Failure(
        'invalid_argument',
        `it names the session "${own}". Name it once, as an argument of run_steps.`,
        { argument: 'session' },
      )
    }
    return { tool: found, checked: checkArguments(found, withShared(found, given, shared)), keep: given.keep === true }
  } catch (error) {
    const { code, message, data } = Failure.from(error)
    throw new Failure(code, `Step ${index} ("${given.tool}"): ${message} Nothing has been done.`, {
      ...data,
      failed_index: index,
      completed: 0,
      total: shared.steps.length,
      steps: [],
    })
  }
}

const withShared = (found: Tool, given: Static<typeof step>, { pid, window_id }: Arguments) => {
  const takes = (name: string) => Object.hasOwn(found.arguments.properties, name)
  return {
    ...(pid !== undefined && takes('pid') && { pid }),
    // A step that names another process does not mean the window of the first.
    ...(window_id !== undefined && takes('window_id') && (given.arguments?.pid ?? pid) === pid && { window_id }),
    ...given.arguments,
  }
}

const reportOf = ({ name }: Tool, { text, structured }: Outcome, keep: boolean): Report => ({
  tool: name,
  ...(!isPlain(structured) && { text: text.split('\n', 1)[0] ?? '' }),
  ...('effect' in structured && { effect: structured.effect }),
  ...(keep && { result: structured }),
  ...('window_id' in structured && { pid: structured.pid, window_id: structured.window_id }),
})

/** True of a result that is what its call asked for, done to what the call named. */
const isPlain = (structured: Outcome['structured']): boolean =>
  structured.effect === 'confirmed' && !('element_resolved' in structured)

const confirmed = (reports: readonly Report[]): string => {
  const plain = reports.filter(({ text }) => text === undefined).length
  if (plain === reports.length) return plain === 0 ? '.' : ', confirmed.'
  return plain === 0 ? ':' : `, ${plain} of them confirmed; the others:`
}

const count = (steps: number): string => `${steps} step${steps === 1 ? '' : 's'}`

const summary = (headline: string, total: number, reports: readonly Report[]): Outcome => {
  const last = reports.findLast(({ window_id }) => window_id !== undefined)
  const lines = reports.flatMap(({ tool, text }, index) => (text === undefined ? [] : [`${index}. ${tool}: ${text}`]))
  return {
    text: [headline, ...lines].join('\n'),
    structured: {
      ...(last && { pid: last.pid, window_id: last.window_id }),
      completed: reports.length,
      total,
      // What there is to say of a step stands in the text, once; its place tells its tool.
      steps: reports.map(({ tool: _, text: __, pid: ___, window_id: ____, ...report }) => report),
    },
  }
}

/** The failure of the step that stopped the run, with the report of those before it and what can be seen now. */
const stoppedAt = async (
  call: Call,
  args: Arguments,
  index: number,
  plan: readonly Planned[],
  reports: readonly Report[],
  failure: Failure,
): Promise<Failure> => {
  const name = plan[index]?.tool.name ?? ''
  const before =
    index === 0
      ? 'No step was done before it.'
      : `${count(index)} before it ${index === 1 ? 'was' : 'were'} done${confirmed(reports)}`
  const report = summary(
    `Step ${index} of ${plan.length} ("${name}") failed: ${failure.message} ${before}`,
    plan.length,
    reports,
  )
  const shared = { ...(args.pid && { pid: args.pid }), ...(args.window_id && { window_id: args.window_id }) }
  const seen = call.signal.aborted
    ? report
    : await observed(call, args, { ...report, structured: { ...shared, ...report.structured } })
  return new Failure(failure.code, seen.text, { ...seen.structured, ...failure.data, failed_index: index })
}
