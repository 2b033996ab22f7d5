/** `backlot host`: the operations of the VM host on itself, read off their declarations. */
import { Failure } from '@backlot/contract/failure'
import { fieldFault, fromText } from '@backlot/contract/fields/field'
import { vmHost } from '@backlot/contract/vmhost'
import { type ExtraCommand, groupCommand } from '../host/group.ts'
import { followLog, type LogOptions, logLines } from '../host/log-lines.ts'
import { print } from '../terminal/output.ts'

const logs: ExtraCommand = {
  form: 'logs [--type info|error|all] [--lines N] [-f]',
  summary: 'Show the log of the service, a JSON object a line; with -f also what comes.',
  options: {
    type: { type: 'string', value: 'info|error|all', description: 'Which lines.', absent: 'all' },
    lines: { type: 'string', value: 'N', description: 'Lines of each kind, from the end.', absent: 'all of them' },
    follow: { type: 'boolean', short: 'f', description: 'Print what comes, too, until it is interrupted.' },
  },
  async run({ service, positionals, values, json }) {
    if (positionals.length > 0) throw new Failure('usage', 'Call it as `backlot host logs [-f]`.')
    const { properties } = vmHost.getLogs.query
    const options: Record<string, unknown> = {}
    for (const [name, schema] of Object.entries(properties)) {
      const text = values[name]
      if (text === undefined) continue
      options[name] = fromText(schema, String(text))
      const fault = fieldFault(name, schema, options[name])
      if (fault !== undefined) throw new Failure('invalid_argument', fault, { argument: name })
    }
    if (!values.follow) {
      // Scripts get the answer as the service gives it.
      if (json) await print(JSON.stringify(await service.client.getLogs(options), null, 2))
      else for (const line of await logLines(service, options as LogOptions)) await print(line)
      return 0
    }
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
    for await (const line of followLog(service, options as LogOptions, stop.signal)) await print(line)
    return 0
  },
}

export const command = groupCommand('host', 'Configure the VM host, and see what it does.', { logs })
