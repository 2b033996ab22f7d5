/** The executable: finds the command or the tool, loads what it needs, and turns a failure into text and exit status. */
import { Failure, failures } from '@backlot/contract/failure'
import { version } from '@backlot/contract/version'
import { type ProgramName, programName } from './executable.ts'
import { commandNames, loadCommand } from './registry.ts'
import { print, say } from './terminal/output.ts'
import { callTool } from './tool-call.ts'

const run = async (program: ProgramName, args: readonly string[]): Promise<number> => {
  const [name, ...rest] = args
  if (name === undefined && program === 'backlot-driver' && !isTerminal()) return run(program, ['mcp'])
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    const { overview, helpFor } = await import('./terminal/help.ts')
    await print(rest[0] === undefined ? await overview(program) : await helpFor(program, rest[0], rest.slice(1)))
    return name === undefined ? failures.usage.exit : 0
  }
  if (name === 'completion' && rest[0] === 'words') {
    const { candidates } = await import('./terminal/complete.ts')
    for (const word of await candidates(program, rest.slice(rest[1] === '--' ? 2 : 1))) await print(word)
    return 0
  }
  if (name === '--version' || name === '-V') {
    await print(`${program} ${version}`)
    return 0
  }
  if (rest.includes('--help') && (rest.indexOf('--') === -1 || rest.indexOf('--help') < rest.indexOf('--'))) {
    await print(
      await (await import('./terminal/help.ts')).helpFor(
        program,
        rest[0] !== '--help' && name === 'call' ? String(rest[0]) : name,
        rest,
      ),
    )
    return 0
  }
  const command = await loadCommand(program, name)
  if (command !== undefined) return command.run(rest)
  if (name.startsWith('-'))
    throw new Failure('usage', `The flag "${name}" is not known. \`${program} help\` lists what there is.`)
  return callTool(name, rest, {
    waitsForInput: false,
    whenUnknown: async () => (await import('./terminal/help.ts')).unknownCommand(program, name, commandNames(program)),
  })
}

const isTerminal = (): boolean => require('node:tty').isatty(0)

/** Told by the system rather than by us, which is rare. */
const named = async (error: unknown): Promise<Failure> =>
  (await import('@backlot/contract/system-failure')).failureOf(error)

const main = async (): Promise<void> => {
  let status: number
  try {
    status = await run(programName(), process.argv.slice(2))
  } catch (error) {
    const failure = error instanceof Failure ? error : await named(error)
    status = failures[failure.code].exit
    const { detail } = failure.data
    await say(`error: ${failure.message}${typeof detail === 'string' ? `: ${detail}` : ''}`)
    if (failure.code === 'internal' && error instanceof Error) await say(error.stack ?? '')
  }
  process.exit(status)
}

main()
