/** `backlot host`: the operations of the VM host that set it up, read off their declarations. */
import { httpClient } from '@backlot/contract/client'
import { type Endpoint, type Endpoints, inputFields } from '@backlot/contract/endpoint'
import { Failure } from '@backlot/contract/failure'
import { fieldFault, fromText } from '@backlot/contract/field'
import { environment, vmHostPort, vmHostPrefixes } from '@backlot/contract/limits'
import { vmHost } from '@backlot/contract/vmhost'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'

const operations: Endpoints = Object.fromEntries(
  Object.entries<Endpoint>(vmHost).filter(([, { command }]) => command.group === 'host'),
)
const usualUrl = `http://127.0.0.1:${vmHostPort}`

const optionName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

const form = ({ command, ...declared }: Endpoint): string => {
  const words = command.words.map((word, index) =>
    command.usual && index === command.words.length - 1 ? `[${word}]` : word,
  )
  const positional = command.positional.map((name) => optionName(name).toUpperCase())
  const options = inputFields({ command, ...declared })
    .filter(({ name }) => !command.positional.includes(name))
    .map(({ name, schema }) => `[--${optionName(name)} ${schema.type === 'boolean' ? 'true|false' : 'TEXT'}]`)
  return ['backlot host', ...words, ...positional, ...options].join(' ')
}

const usage = (): string => `${Object.values(operations)
  .map((declared) => `${form(declared)}\n    ${declared.summary}`)
  .join('\n')}

  --url URL  Address of the service, http://… or unix:PATH; ${environment.hostUrl} or ${usualUrl} when absent.
             ${environment.hostToken} holds the token of a service that asks for one.`

export const command: Command = {
  summary: 'Configure the VM host.',
  usage: usage(),
  async run(args) {
    const [name, declared, rest] = find(args)
    const { values, positionals } = readFlags(`host`, {
      args: rest,
      allowPositionals: true,
      options: Object.fromEntries(
        [...optional(declared).map(({ name }) => optionName(name)), 'url'].map((flag) => [flag, { type: 'string' }]),
      ),
    })
    const input = readInput(declared, positionals, values)
    const client = httpClient(operations, reach(values.url ?? process.env[environment.hostUrl] ?? usualUrl))
    const result = await client[name]?.(input as never)
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
    return 0
  },
}

/** The operation that the longest row of words names, and what stands after them. */
const find = (args: readonly string[]): [string, Endpoint, string[]] => {
  const startsWith = (words: readonly string[]) => words.every((word, index) => args[index] === word)
  const exact = Object.entries(operations).find(([, { command }]) => startsWith(command.words))
  if (exact !== undefined) return [...exact, args.slice(exact[1].command.words.length)]
  const usual = Object.entries(operations).find(([, { command }]) => {
    const words = command.words.slice(0, -1)
    const next = args[words.length]
    return command.usual && startsWith(words) && (next === undefined || next.startsWith('-'))
  })
  if (usual !== undefined) return [...usual, args.slice(usual[1].command.words.length - 1)]
  throw new Failure(
    'usage',
    `\`backlot host\` does not know "${args.join(' ')}". \`backlot host --help\` shows what it takes.`,
  )
}

const optional = (declared: Endpoint) =>
  inputFields(declared).filter(({ name }) => !declared.command.positional.includes(name))

const readInput = (
  declared: Endpoint,
  positionals: readonly string[],
  values: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> => {
  const { positional } = declared.command
  if (positionals.length !== positional.length) {
    throw new Failure('usage', `Call it as \`${form(declared)}\`.`)
  }
  const input: Record<string, unknown> = {}
  for (const { name, schema } of inputFields(declared)) {
    const text = positional.includes(name) ? positionals[positional.indexOf(name)] : values[optionName(name)]
    if (text === undefined) continue
    const value = fromText(schema, text)
    const fault = fieldFault(name, schema, value)
    if (fault !== undefined) throw new Failure('invalid_argument', fault, { argument: name })
    input[name] = value
  }
  return input
}

const reach = (url: string) => {
  const unix = url.startsWith('unix:') ? url.slice('unix:'.length) : undefined
  // A proxy of the environment cannot reach this machine's loopback, and would see the token.
  if (/^http:\/\/(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(url)) process.env.no_proxy = '*'
  return {
    baseUrl: `${unix === undefined ? url.replace(/\/+$/, '') : 'http://localhost'}${vmHostPrefixes[0]}`,
    fetch: (address: string, init: RequestInit) => fetch(address, unix === undefined ? init : { ...init, unix }),
    token: process.env[environment.hostToken] || undefined,
  }
}
