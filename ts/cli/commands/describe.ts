/** `backlot describe`: one tool. */
import { Failure } from '@backlot/contract/failure'
import { fullAccess } from '@backlot/driver/edges/access'
import { describeHere } from '@backlot/driver/edges/offer'
import type { Command } from '../command.ts'
import { printJson } from '../terminal/output.ts'

export const command: Command = {
  summary: 'Print all that is known of a tool and its arguments; the list over MCP says once what repeats.',
  usage: 'backlot describe TOOL',
  async run([name, ...rest]) {
    if (name === undefined || name.startsWith('-') || rest.length > 0) {
      throw new Failure('usage', 'Call it as `backlot describe TOOL`. `backlot list-tools` names the tools.')
    }
    await printJson(await describeHere(fullAccess, name))
    return 0
  },
}
