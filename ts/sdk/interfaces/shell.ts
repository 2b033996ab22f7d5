/** Commands for the system's shell. */
import { fieldsOf } from '../answer.ts'
import type { CallOptions, CommandResult, Content, Fields } from '../basics.ts'
import { endingOf, timeoutOf, tookTooLong } from '../deadline.ts'
import { CommandError, UnavailableError } from '../errors.ts'
import { eventsOf } from '../transports/events.ts'
import { connectionLost } from '../transports/loss.ts'
import { retrying } from '../transports/retry.ts'
import { routes } from '../transports/routes.ts'
import type { Transport } from '../transports/transport.ts'
import { bodyOf, piecesOf } from './content.ts'
import { routesFor } from './need-routes.ts'
import { type Command, RunningCommand, resultOf } from './running-command.ts'

/** How a command is run. */
export interface CommandOptions extends CallOptions {
  /** Folder to run in. @default the home folder */
  cwd?: string
  /** Variables beside the computer's own. @default {} */
  env?: Readonly<Record<string, string>>
  /** What the command reads. @default nothing */
  input?: Content
}

/** Commands for the system's shell. */
export interface Shell {
  /** Runs a command, which `signal` and `timeoutMs` (30_000) end with all it started; with `check` a code but 0 throws `command_failed`. */
  run(command: string, options?: CommandOptions & { check?: boolean }): Promise<CommandResult>
  /** Starts a command whose output is read as it comes; `signal` and `timeoutMs` (none) end it with all it started. */
  start(command: string, options?: CommandOptions): Promise<Command>
}

/** Milliseconds beyond the limit of a command in which its server tells that it was ended. */
const tellingMs = 2_000

/** The shell behind a transport. */
export const shellOf = (transport: Transport): Shell => {
  const start = async (command: string, options: CommandOptions, usualMs: number): Promise<RunningCommand> => {
    const server = routesFor(transport, 'Streaming the output of a command')
    const where = server.name
    const timeoutMs = timeoutOf(options, usualMs)
    const { input } = options
    // Its server ends it and tells its output; where that is silent, it is given up.
    const tooLate = () => tookTooLong(`"${command}"`, timeoutMs)
    const { ending, over } = endingOf(options.signal, timeoutMs + tellingMs, tooLate)
    try {
      const params = { ...paramsOf(command, options, timeoutMs), ...(input !== undefined && { stdin_open: true }) }
      const request = { method: 'POST', headers: { Accept: 'text/event-stream' }, signal: ending.signal } as const
      const response = await retrying(false, ending.signal, () =>
        server.fetch('/cmd', { ...request, json: { command: 'run_command', params } }),
      )
      const events = eventsOf(response, where, ending.signal)
      const { value: first, done } = await events.next()
      if (done) throw connectionLost(where, 'the answer ended early')
      const { pid } = startedOf(JSON.parse(first.data) as Fields)
      const running = new RunningCommand(transport, { pid, events, where, abort: (why) => ending.abort(why) })
      void running
        .wait()
        .catch(() => undefined)
        .finally(over)
      if (input !== undefined) void running.input(piecesOf(input), ending.signal)
      return running
    } catch (error) {
      ending.abort(error)
      over()
      throw error
    }
  }
  return {
    async run(command, options = {}) {
      const timeoutMs = timeoutOf(options)
      const result =
        transport[routes] === undefined
          ? await plainly(transport, command, options, timeoutMs)
          : await (await start(command, options, timeoutMs)).wait()
      if (!options.check || result.exitCode === 0) return result
      throw new CommandError(`"${command}" ended with ${result.exitCode}; "stderr" holds what it said.`, result)
    },
    start: (command, options = {}) => start(command, options, Number.POSITIVE_INFINITY),
  }
}

/** Runs a command by a transport that carries commands alone, which cannot end it early. */
const plainly = async (
  transport: Transport,
  command: string,
  options: CommandOptions,
  timeoutMs: number,
): Promise<CommandResult> => {
  const { input, signal } = options
  const stdin = input === undefined ? {} : { stdin: await new Response(bodyOf(input)).text() }
  const limits = { timeoutMs: timeoutMs + tellingMs, ...(signal && { signal }) }
  return resultOf(await transport.send('run_command', { ...paramsOf(command, options, timeoutMs), ...stdin }, limits))
}

const paramsOf = (command: string, { cwd, env }: CommandOptions, timeoutMs: number) => ({
  command,
  ...(cwd !== undefined && { cwd }),
  ...(env !== undefined && { env: { ...env } }),
  ...(timeoutMs <= longestSeconds * 1_000 && { timeout: Math.max(timeoutMs, 1) / 1_000 }),
})

/** Seconds of the longest limit that a server keeps. */
const longestSeconds = 86_400

/** What the first event tells: the process, or why there is none. */
const startedOf = (event: Fields): { pid: number } => {
  const { pid } = fieldsOf(event)
  if (typeof pid === 'number') return { pid }
  throw new UnavailableError(
    'server_incompatible',
    'The computer server does not tell the process of a command; install a current Backlot there.',
  )
}
