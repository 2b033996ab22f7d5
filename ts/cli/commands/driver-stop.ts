/** `backlot-driver stop`: ends the daemon. */
import { Failure } from '@backlot/contract/failure'
import { daemon } from '@backlot/contract/limits'
import { type Connection, connect } from '@backlot/driver/edges/client/connection'
import { checkSocket } from '@backlot/driver/edges/folder'
import { hasEnded } from '@backlot/native/proc-stat'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { say } from '../terminal/output.ts'
import { reachOf } from '../tool-call.ts'

export const command: Command = {
  summary: 'End the daemon of this display.',
  usage: `backlot-driver stop [--socket PATH]

  --socket PATH  End the daemon on that socket.

Returns when its process is gone; one that does not run is stopped already.`,
  async run(args) {
    const { values } = readFlags('stop', { args: [...args], options: { socket: { type: 'string' } } })
    const { socket } = reachOf(values.socket)
    checkSocket(socket)
    let connection: Connection
    try {
      connection = await connect(socket)
    } catch (error) {
      if (Failure.from(error).code !== 'not_running') throw error
      await say(`No daemon listens on ${socket}.`)
      return 0
    }
    const { pid } = connection.greeting
    const deadline = performance.now() + daemon.endTimeoutMs
    // One that ends before it answers has done what it was asked for.
    connection.ask({ method: 'shutdown' }).catch(() => undefined)
    while (!hasEnded(pid)) {
      if (performance.now() > deadline) throw stays(pid, socket)
      await Bun.sleep(10)
    }
    await say(`The daemon with pid ${pid} has ended.`)
    return 0
  },
}

const stays = (pid: number, socket: string): Failure =>
  new Failure(
    'daemon_unavailable',
    `The daemon with pid ${pid} was told to end and still runs after ${daemon.endTimeoutMs / 1_000} s. End it with \`kill -KILL ${pid}\`.`,
    { socket, pid },
  )
