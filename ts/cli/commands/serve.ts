/** `backlot serve`: the VM host service, until it is interrupted. */
import { Failure } from '@backlot/contract/failure'
import { consoleAccess, environment, stopGrace, vmHostPort } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import { listen } from '@backlot/vmhost'
import type { Command } from '../command.ts'
import { executableForGuests } from '../compose/guest-executable.ts'
import { hostSandboxes } from '../compose/host-sandboxes.ts'
import { readFlags } from '../flags.ts'
import { interruption, listeningFlags, readListening, type ServerKind } from '../listening.ts'

export const command: Command = {
  summary: 'Serve virtual machines over HTTP.',
  usage: `backlot serve [--port N] [--host ADDRESS] [--token-file PATH] [--name NAME] [--grace-seconds N]
                     [--idle-seconds N] [--accelerator kvm|tcg]
       backlot serve --listen unix:PATH [--grace-seconds N] [--idle-seconds N] [--accelerator kvm|tcg]

  --port N           Port to listen on; ${vmHostPort} when absent, 0 for any free one.
  --host ADDRESS     Address to listen on; 127.0.0.1 when absent. Beyond this machine a token is required.
  --token-file PATH  File that holds the token which callers send as \`Authorization: Bearer TOKEN\`.
                     ${environment.hostToken} may hold the token itself.
  --name NAME        A name under which others reach this machine, beside its own; may be given several times.
  --listen unix:PATH Listen on a Unix socket instead, which only its owner may use.
  --grace-seconds N  Seconds that a guest has to shut down before it is ended, where who stops it does not say;
                     ${stopGrace.usualSeconds} when absent, at most ${stopGrace.mostSeconds}.
  --idle-seconds N   End once no VM has run, nothing was under way and nobody has called for N seconds; never when absent.
  --accelerator NAME What guests run on: \`kvm\`, or \`tcg\`, which needs no rights; the fastest that works when absent.

Prints its address when it listens; requests are logged on standard error. Where a token is asked for, a link to the
console follows there that lets one browser in, once; \`backlot host link\` makes another.`,
  async run(args) {
    const { values } = readFlags('serve', {
      args: [...args],
      options: {
        ...listeningFlags,
        'grace-seconds': { type: 'string' },
        'idle-seconds': { type: 'string' },
        accelerator: { type: 'string' },
      },
    })
    const { key, ...where } = readListening(values, kind)
    const say = (line: string) => void process.stderr.write(`${new Date().toISOString()} ${line}\n`)
    const idle = Promise.withResolvers<void>()
    const idleSeconds = values['idle-seconds']
    await using service = await listen({
      ...where,
      token: key,
      stopGraceSeconds: readGrace(values['grace-seconds']),
      accelerator: readAccelerator(values.accelerator),
      idle:
        idleSeconds === undefined ? undefined : { afterMs: readIdle(idleSeconds) * 1_000, end: () => idle.resolve() },
      places: placesOf(process.env),
      executable: executableForGuests(),
      // A service on a Unix socket has no console.
      sandboxes: values.listen === undefined ? hostSandboxes : undefined,
      log: say,
    })
    const ended = interruption()
    process.stdout.write(`${service.url}\n`)
    const link = service.newLink()
    if (link !== undefined) say(`console, for one browser within ${consoleAccess.linkMs / 60_000} minutes: ${link}`)
    await Promise.race([ended, idle.promise])
    return 0
  },
}

const kind: ServerKind = { usualPort: vmHostPort, keyIs: 'token', keyVariable: environment.hostToken }

const readGrace = (text: string | undefined): number => {
  if (text === undefined) return stopGrace.usualSeconds
  const seconds = /^\d{1,4}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= stopGrace.mostSeconds) return seconds
  throw new Failure(
    'invalid_argument',
    `--grace-seconds is "${text}"; it takes a number from 0 to ${stopGrace.mostSeconds}.`,
    { argument: 'grace-seconds' },
  )
}

/** Seconds of the longest wait for somebody to need the service. */
const longestIdle = 86_400

const readIdle = (text: string): number => {
  const seconds = /^\d{1,5}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (seconds > 0 && seconds <= longestIdle) return seconds
  throw new Failure(
    'invalid_argument',
    `--idle-seconds is "${text}"; it takes a number greater than 0, at most ${longestIdle}.`,
    { argument: 'idle-seconds' },
  )
}

const readAccelerator = (text: string | undefined): 'kvm' | 'tcg' | undefined => {
  if (text === undefined || text === 'kvm' || text === 'tcg') return text
  throw new Failure('invalid_argument', `--accelerator is "${text}"; it is kvm or tcg.`, { argument: 'accelerator' })
}
