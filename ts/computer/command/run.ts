/** The one way that every command takes, whatever it came by. */
import { type CommandName, commandNames, findCommand } from '@backlot/contract/computer'
import type { Command } from '@backlot/contract/computer/command'
import { Failure } from '@backlot/contract/failure'
import type { Backend, Call, Handler } from '../backend.ts'
import { readParams } from './params.ts'
import { suggest } from './suggest.ts'

/** What a caller is told: the fields of the result, or why there is none. */
export type CommandAnswer =
  | ({ readonly success: true } & Readonly<Record<string, unknown>>)
  | ({ readonly success: false; readonly error: string; readonly code: string } & Readonly<Record<string, unknown>>)

/** What commands are run on. */
export interface Computer {
  readonly backend: Backend
  /** Runs what acts while the person has not taken over. Throws `paused_by_person`. */
  during<T>(signal: AbortSignal, action: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Hears of defects. */
  report(defect: unknown): void
}

/** The sentence for a name that no command has. */
export const unknownCommand = (name: string): string => {
  const close = suggest(name, commandNames)
  return `Unknown command: ${name.slice(0, 100)}${close.length === 0 ? '' : `. Did you mean: ${close.join(', ')}?`}`
}

/** Runs a command; undefined where no command has that name. Never throws. */
export const runCommand = async (
  computer: Computer,
  name: string,
  given: unknown,
  call: Call,
): Promise<CommandAnswer | undefined> => {
  const found = findCommand(name)
  if (found === undefined) return undefined
  try {
    return { success: true, ...(await run(computer, found.name, found.declared, given, call)) }
  } catch (error) {
    const failure = Failure.from(error)
    if (failure.code === 'internal') computer.report(error)
    return { ...failure.data, success: false, error: failure.message, code: failure.code }
  }
}

const run = async (
  computer: Computer,
  name: CommandName,
  declared: Command,
  given: unknown,
  call: Call,
): Promise<object> => {
  const handler = computer.backend.handlers[name] as Handler<CommandName> | undefined
  if (handler === undefined) {
    throw new Failure(
      'not_available',
      `"${name}" is not for ${computer.backend.osType}; GET /commands lists what is.`,
      { command: name },
    )
  }
  const params = readParams(name, declared, given)
  call.signal.throwIfAborted()
  const carryOut = (signal: AbortSignal) => handler(params as never, { ...call, signal }) as Promise<object>
  return declared.acts ? computer.during(call.signal, carryOut) : carryOut(call.signal)
}

/** What the flat form answers with: the fields, and beside them the one that its clients read as `result`. */
export const flattened = (name: string, answer: CommandAnswer): CommandAnswer => {
  if (!answer.success) return answer
  const { success, ...fields } = answer
  const flat = findCommand(name)?.declared.flat
  return { ...answer, result: flat === undefined ? fields : fields[flat] }
}
