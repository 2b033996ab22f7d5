/** `backlot whoami`: whose key it is. */
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import { whoami } from '@backlot/sdk'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { statusAfter } from '../sandbox/refused.ts'
import { print, printJson } from '../terminal/output.ts'
import { isTerminal } from '../terminal/table.ts'

export const command: Command = {
  summary: 'Tell whose key of a cloud is used.',
  usage: `backlot whoami [--json]

The key is the one that \`backlot login\` stored, else that of ${environment.cloudKey}.

  --json  Print JSON; always where standard output is no terminal.`,
  async run(args) {
    const { values, positionals } = readFlags('whoami', {
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean' } },
    })
    if (positionals.length > 0) throw new Failure('usage', 'Call it as `backlot whoami [--json]`.')
    return statusAfter(async () => {
      const user = await whoami()
      await (values.json || !isTerminal() ? printJson(user) : print(`${user.email} (${user.id})`))
    })
  },
}
