/** What `help`, `--help` and a mistyped name print, read off the commands and the tools. */
import { Failure } from '@backlot/contract/failure'
import { findTool, nearest, tools } from '@backlot/driver'
import type { ProgramName } from '../executable.ts'
import { commandNames, loadCommand } from '../registry.ts'
import { toolCallFlags } from '../tool-call.ts'

const column = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`.trimEnd()).join('\n')
}

/** All commands and tools. */
export const overview = async (program: ProgramName): Promise<string> => {
  const commands = await Promise.all(
    commandNames(program).map(async (name) => [name, (await loadCommand(program, name))?.summary ?? ''] as const),
  )
  return `${program} COMMAND [ARGUMENTS]
${program} TOOL '{"argument": value}'

Commands:
${column(commands)}

Tools:
${column(tools.map(({ name, title }) => [name, title]))}

\`${program} NAME --help\` tells more of each, \`${program} --version\` the version.`
}

/** The help of one command, or of `words` of it, or of a tool. Throws `unknown_command`. */
export const helpFor = async (program: ProgramName, name: string, words: readonly string[] = []): Promise<string> => {
  const command = await loadCommand(program, name)
  const own = command?.usageOf?.(words)
  if (own !== undefined) return own
  if (command !== undefined) return `${command.summary}\n\n${command.usage}`
  const tool = findTool(name)
  if (tool === undefined) throw unknownCommand(program, name, commandNames(program))
  const required = new Set(tool.arguments.required ?? [])
  const rows = Object.entries(tool.arguments.properties).map(([argument, schema]) => {
    const kind = Array.isArray(schema.enum) ? schema.enum.join('|') : String(schema.type)
    const fallback = schema.default === undefined ? '' : ` Default: ${JSON.stringify(schema.default)}.`
    return [
      `${argument} (${kind}${required.has(argument) ? ', required' : ''})`,
      `${schema.description ?? ''}${fallback}`,
    ] as const
  })
  return `${tool.title}

${program} ${name} '{"argument": value}'

${tool.description}

${rows.length === 0 ? 'It takes no arguments.' : `Arguments:\n${column(rows)}`}

Flags:
${toolCallFlags}`
}

/** The failure of a name that is neither a command nor a tool. */
export const unknownCommand = (program: ProgramName, name: string, commands: readonly string[]): Failure => {
  const near = nearest(name, [...commands, ...tools.map((tool) => tool.name)])
  return new Failure(
    'unknown_command',
    `"${name}" is neither a command nor a tool.${near === undefined ? '' : ` Did you mean "${near}"?`} \`${program} help\` lists both.`,
    { nearest: near ?? null },
  )
}
