/** `backlot-driver serve`: the daemon in the foreground. */
import { Failure } from '@backlot/contract/failure'
import { daemon } from '@backlot/contract/limits'
import { identityOf } from '@backlot/driver/edges/address'
import { serveDaemon } from '@backlot/driver/edges/daemon/daemon'
import type { Command } from '../command.ts'
import { accessFlags, accessOf } from '../driver-flags.ts'
import { readFlags } from '../flags.ts'
import { say } from '../terminal/output.ts'
import { reachOf } from '../tool-call.ts'

export const command: Command = {
  summary: 'Serve the tools of this display on a socket, until stopped.',
  usage: `backlot-driver serve [--socket PATH] [--read-only] [--allow TOOL,…] [--idle-timeout-s N]

  --socket PATH      Listen there instead of on the socket of the display.
${accessFlags}
  --idle-timeout-s N End after N seconds without a connection; 0, which is usual, never.
                     A daemon that a client starts gets ${daemon.idleSeconds}.
  --no-overlay       Show no cursors of agents; their tools answer all the same.`,
  async run(args) {
    const { values } = readFlags('serve', {
      args: [...args],
      options: {
        socket: { type: 'string' },
        'read-only': { type: 'boolean' },
        allow: { type: 'string', multiple: true },
        'idle-timeout-s': { type: 'string' },
        'no-overlay': { type: 'boolean' },
      },
    })
    const { socket } = reachOf(values.socket)
    await serveDaemon(
      {
        socket,
        isDefaultSocket: values.socket === undefined || socket === reachOf(undefined).socket,
        identity: identityOf(process.env),
        access: accessOf(values['read-only'] === true, values.allow),
        idleTimeoutSeconds: secondsOf(values['idle-timeout-s']),
        overlay: values['no-overlay'] !== true,
      },
      () => void say(`The daemon listens on ${socket}`),
    )
    return 0
  },
}

const secondsOf = (text: string | undefined): number => {
  if (text === undefined) return 0
  if (/^\d{1,7}$/.test(text)) return Number(text)
  throw new Failure('usage', `--idle-timeout-s is "${text}"; it takes a number of seconds.`)
}
