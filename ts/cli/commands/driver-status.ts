/** `backlot-driver status`: whether a daemon runs, and which. */
import { Failure } from '@backlot/contract/failure'
import { connect } from '@backlot/driver/edges/client/connection'
import { checkSocket } from '@backlot/driver/edges/folder'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { pauseState } from '../pause.ts'
import { printJson, say } from '../terminal/output.ts'
import { reachOf } from '../tool-call.ts'

export const command: Command = {
  summary: 'Print the state of the daemon of this display.',
  usage: `backlot-driver status [--socket PATH] [--json]

  --socket PATH  Ask the daemon on that socket.
  --json         Accepted: what is printed is JSON always.

Prints JSON; exit status 1 and {"running":false, …} when no daemon listens.`,
  async run(args) {
    const { values } = readFlags('status', {
      args: [...args],
      options: { socket: { type: 'string' }, json: { type: 'boolean' } },
    })
    const { socket } = reachOf(values.socket)
    checkSocket(socket)
    try {
      const connection = await connect(socket)
      await printJson(await connection.ask({ method: 'status' }))
      connection.close()
      return 0
    } catch (error) {
      const failure = Failure.from(error)
      if (failure.code !== 'not_running') throw error
      await printJson({ running: false, socket, ...pauseState() })
      await say(`error: ${failure.message}`)
      return 1
    }
  },
}
