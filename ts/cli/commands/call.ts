/** `backlot call`: a tool, whatever its name. */
import { Failure } from '@backlot/contract/failure'
import type { Command } from '../command.ts'
import { callTool, toolCallFlags } from '../tool-call.ts'

export const command: Command = {
  summary: 'Call a tool with JSON as argument or on standard input.',
  usage: `backlot call TOOL ['JSON'|-] [FLAGS]
backlot TOOL ['JSON'|-] [FLAGS]

${toolCallFlags}

Prints the result's structured content; a picture becomes a file whose path stands in it as screenshot_file_path.
Without JSON, \`call\` reads standard input to its end unless that is a terminal. The form without \`call\` reads it
only when something stands there at once; otherwise the tool is called without arguments.
Exit status: 0 done, 1 the tool failed, 2 no JSON object, 64 no such tool or flag.`,
  async run([name, ...args]) {
    if (name === undefined || name.startsWith('-')) {
      throw new Failure('usage', '`backlot call` needs the name of a tool. `backlot list-tools` names them.')
    }
    return callTool(name, args, { waitsForInput: true })
  },
}
