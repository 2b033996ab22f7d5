/** `backlot list-tools`: what can be called. */
import { fullAccess } from '@backlot/driver/edges/access'
import { listHere } from '@backlot/driver/edges/offer'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { print, printJson } from '../terminal/output.ts'

export const command: Command = {
  summary: 'List the tools.',
  usage: `backlot list-tools [--json]

  --json  Print each with its description and the schema of its arguments, as MCP lists them.`,
  async run(args) {
    const { values } = readFlags('list-tools', { args: [...args], options: { json: { type: 'boolean' } } })
    const tools = await listHere(fullAccess)
    if (values.json) {
      await printJson(tools)
    } else {
      const width = Math.max(...tools.map(({ name }) => name.length))
      await print(tools.map(({ name, title }) => `${name.padEnd(width)}  ${title}`).join('\n'))
    }
    return 0
  },
}
