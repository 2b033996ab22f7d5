/** The commands of the computer server, by name. */
import { accessibilityCommands } from './computer/accessibility.ts'
import { clipboardCommands } from './computer/clipboard.ts'
import type { Command, Params, Result } from './computer/command.ts'
import { fileCommands } from './computer/files.ts'
import { keyboardCommands } from './computer/keyboard.ts'
import { pointerCommands } from './computer/pointer.ts'
import { screenCommands } from './computer/screen.ts'
import { shellCommands } from './computer/shell.ts'
import { systemCommands } from './computer/system.ts'
import { terminalCommands } from './computer/terminal.ts'
import { touchCommands } from './computer/touch.ts'
import { windowCommands } from './computer/windows.ts'

/** Every command. */
export const computer = {
  ...systemCommands,
  ...screenCommands,
  ...pointerCommands,
  ...keyboardCommands,
  ...clipboardCommands,
  ...shellCommands,
  ...fileCommands,
  ...windowCommands,
  ...accessibilityCommands,
  ...terminalCommands,
  ...touchCommands,
} as const

export type ComputerCommands = typeof computer

/** Name of a command. */
export type CommandName = keyof ComputerCommands

/** What a command is given. */
export type CommandParams<Name extends CommandName> = Params<ComputerCommands[Name]>

/** What a command gives back. */
export type CommandResult<Name extends CommandName> = Result<ComputerCommands[Name]>

/** The declaration that goes by a name or an alias. */
export const findCommand = (name: string): { name: CommandName; declared: Command } | undefined => {
  const found = byName.get(name)
  return found === undefined ? undefined : { name: found, declared: computer[found] }
}

const byName: ReadonlyMap<string, CommandName> = new Map(
  Object.entries<Command>(computer).flatMap(([name, { aliases = [] }]) =>
    [name, ...aliases].map((each) => [each, name as CommandName] as const),
  ),
)

/** Every name and alias. */
export const commandNames: readonly string[] = [...byName.keys()]
