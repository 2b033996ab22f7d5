/** The person's pause, begun and ended: through the daemon that listens, else by the file that all drivers look at. */
import { dirname } from 'node:path'
import { pauseFileOf } from '@backlot/contract/display'
import { Failure } from '@backlot/contract/failure'
import { connect } from '@backlot/driver/edges/client/connection'
import { checkSocket } from '@backlot/driver/edges/folder'
import { type PauseState, PauseSwitch } from '@backlot/native/pause-switch'
import type { Command } from './command.ts'
import { readFlags } from './flags.ts'
import { printJson, say } from './terminal/output.ts'
import { reachOf } from './tool-call.ts'

/** Whether actions on the environment's display are paused, without asking a daemon. */
export const pauseState = (): PauseState => new PauseSwitch(pauseFileOf(process.env)).state

/** Tells the daemon that listens there; throws what `connect` does, and `daemon_unavailable` where it is silent. */
const tell = async (socket: string, verb: 'pause' | 'resume'): Promise<unknown> => {
  const { promise, reject } = Promise.withResolvers<never>()
  const silent = new Failure(
    'daemon_unavailable',
    `The daemon on "${socket}" does not answer. End it by its pid, which \`backlot-driver status\` says.`,
    { socket },
  )
  const timer = setTimeout(() => reject(silent), daemonAnswersMs)
  const asking = async () => {
    const connection = await connect(socket)
    try {
      return await connection.ask({ method: verb })
    } finally {
      connection.close()
    }
  }
  try {
    return await Promise.race([asking(), promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Milliseconds that a daemon gets for its answer. */
const daemonAnswersMs = 2_000

const turn = async (verb: 'pause' | 'resume', named: string | undefined): Promise<unknown> => {
  const { socket } = reachOf(named)
  checkSocket(socket)
  if (named !== undefined) return tell(socket, verb)
  // The file first: it halts drivers in processes of their own, and those that start later, whatever the daemon does.
  const pauseSwitch = new PauseSwitch(pauseFileOf(process.env))
  const state = verb === 'pause' ? pauseSwitch.pause('command') : pauseSwitch.resume()
  const answer = await tell(socket, verb).catch(() => undefined)
  if (answer !== undefined) return answer
  if (!pauseSwitch.isPrivate) return state
  const directory = dirname(pauseSwitch.file)
  throw new Failure(
    'invalid_directory',
    `"${directory}" cannot be written, so no driver would see the pause. Make the folder writable, or set XDG_RUNTIME_DIR.`,
    { directory },
  )
}

/** The command of that name, which says `done` on standard error. */
export const pauseCommand = (verb: 'pause' | 'resume', summary: string, done: string): Command => ({
  summary,
  usage: `backlot-driver ${verb} [--socket PATH] [--json]

  --socket PATH  Ask the daemon on that socket instead of that of the display.
  --json         Accepted: what is printed is JSON always.

Prints {"paused", "paused_by", "paused_at"}. Holds for all drivers of the display, those that run with \`--direct\` and
those that start later too.`,
  async run(args) {
    const options = { socket: { type: 'string' }, json: { type: 'boolean' } } as const
    const { values } = readFlags(verb, { args: [...args], options })
    await printJson(await turn(verb, values.socket))
    await say(done)
    return 0
  },
})
