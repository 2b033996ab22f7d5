/** `backlot serve`: the VM host service, until it is interrupted. */
import { readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { environment, vmHostPort } from '@backlot/contract/limits'
import { placesOf } from '@backlot/contract/places'
import { listen } from '@backlot/vmhost'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'

export const command: Command = {
  summary: 'Serve virtual machines over HTTP.',
  usage: `backlot serve [--port N] [--listen ADDRESS] [--key-file PATH]

  --port N          Port to listen on; ${vmHostPort} when absent, 0 for any free one.
  --listen ADDRESS  Address to listen on; 127.0.0.1 when absent. unix:PATH is a Unix socket.
  --key-file PATH   File that holds the key which callers send as \`Authorization: Bearer KEY\`.
                    ${environment.hostKey} may hold the key itself. Beyond this machine one is required.

Prints its address when it listens; requests are logged on standard error.`,
  async run(args) {
    const { values } = readFlags('serve', {
      args: [...args],
      options: { port: { type: 'string' }, listen: { type: 'string' }, 'key-file': { type: 'string' } },
    })
    await using service = await listen({
      address: values.listen ?? '127.0.0.1',
      port: readPort(values.port),
      key: readKey(values['key-file']),
      places: placesOf(process.env),
      log: (line) => void process.stderr.write(`${new Date().toISOString()} ${line}\n`),
    })
    const ended = interruption()
    process.stdout.write(`${service.url}\n`)
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

const readKey = (file: string | undefined): string | undefined => {
  if (file === undefined) return process.env[environment.hostKey] || undefined
  let key: string
  try {
    key = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Failure('invalid_argument', `--key-file cannot be read: ${(error as Error).message}.`, {
      argument: 'key-file',
    })
  }
  if (key !== '') return key
  throw new Failure('invalid_argument', `The key file "${file}" is empty; put a key in it.`, { argument: 'key-file' })
}

const interruption = (): Promise<void> =>
  new Promise((settle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => settle())
  })
