/** `backlot serve`: the VM host service, until it is interrupted. */
import { readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { consoleAccess, environment, stopGrace, vmHostPort } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import { listen } from '@backlot/vmhost'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'

export const command: Command = {
  summary: 'Serve virtual machines over HTTP.',
  usage: `backlot serve [--port N] [--host ADDRESS] [--token-file PATH] [--name NAME] [--grace-seconds N]
       backlot serve --listen unix:PATH [--grace-seconds N]

  --port N           Port to listen on; ${vmHostPort} when absent, 0 for any free one.
  --host ADDRESS     Address to listen on; 127.0.0.1 when absent. Beyond this machine a token is required.
  --token-file PATH  File that holds the token which callers send as \`Authorization: Bearer TOKEN\`.
                     ${environment.hostToken} may hold the token itself.
  --name NAME        A name under which others reach this machine, beside its own; may be given several times.
  --listen unix:PATH Listen on a Unix socket instead, which only its owner may use.
  --grace-seconds N  Seconds that a guest has to shut down before it is ended, where who stops it does not say;
                     ${stopGrace.usualSeconds} when absent, at most ${stopGrace.mostSeconds}.

Prints its address when it listens; requests are logged on standard error. Where a token is asked for, a link to the
console follows there that lets one browser in, once; \`backlot host link\` makes another.`,
  async run(args) {
    const { values } = readFlags('serve', {
      args: [...args],
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        listen: { type: 'string' },
        'token-file': { type: 'string' },
        'key-file': { type: 'string' },
        name: { type: 'string', multiple: true },
        'grace-seconds': { type: 'string' },
      },
    })
    if (values.listen !== undefined) refuseBeside(values)
    const say = (line: string) => void process.stderr.write(`${new Date().toISOString()} ${line}\n`)
    await using service = await listen({
      address: readListen(values.listen) ?? values.host ?? '127.0.0.1',
      port: readPort(values.port),
      token: readToken(values['token-file'] ?? values['key-file']),
      names: values.name ?? [],
      stopGraceSeconds: readGrace(values['grace-seconds']),
      places: placesOf(process.env),
      log: say,
    })
    const ended = interruption()
    process.stdout.write(`${service.url}\n`)
    const link = service.newLink()
    if (link !== undefined) say(`console, for one browser within ${consoleAccess.linkMs / 60_000} minutes: ${link}`)
    await ended
    return 0
  },
}

const readPort = (text: string | undefined): number => {
  if (text === undefined) return vmHostPort
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new Failure('invalid_argument', `--port is "${text}"; it takes a number from 0 to 65535.`, { argument: 'port' })
}

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

const readListen = (text: string | undefined): string | undefined => {
  if (text === undefined || /^unix:./.test(text)) return text
  throw new Failure(
    'invalid_argument',
    `--listen is "${text}"; it takes unix:PATH. --host and --port name an address of the network.`,
    { argument: 'listen' },
  )
}

/** A Unix socket has none of what an address of the network has. */
const refuseBeside = (values: Readonly<Record<string, unknown>>): void => {
  const argument = ['host', 'port', 'name'].find((flag) => values[flag] !== undefined)
  if (argument === undefined) return
  throw new Failure('invalid_argument', `--listen and --${argument} exclude each other: give one of them.`, {
    argument,
  })
}

const readToken = (file: string | undefined): string | undefined => {
  if (file === undefined) {
    const token = process.env[environment.hostToken] || undefined
    if (token === undefined || isWord(token)) return token
    throw new Failure('invalid_argument', `${environment.hostToken} holds more than one word; put one token in it.`, {
      argument: environment.hostToken,
    })
  }
  let token: string
  try {
    token = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Failure('invalid_argument', `--token-file cannot be read: ${(error as Error).message}.`, {
      argument: 'token-file',
    })
  }
  const fault = token === '' ? 'is empty' : isWord(token) ? undefined : 'holds more than one word'
  if (fault === undefined) return token
  throw new Failure('invalid_argument', `The token file "${file}" ${fault}; put one token in it.`, {
    argument: 'token-file',
  })
}

const isWord = (token: string): boolean => /^[\x21-\x7e]+$/.test(token)

const interruption = (): Promise<void> =>
  new Promise((settle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => settle())
  })
