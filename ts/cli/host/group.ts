/** `backlot vm` and `backlot host`: commands that are read off the operations, and a few that put several together. */
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { print } from '../terminal/output.ts'
import { isTerminal } from '../terminal/table.ts'
import { callOperation, takesLong } from './call.ts'
import { findOperation, formOf, type Group, operationsOf, optionsOf, readInput } from './declared.ts'
import { type ExtraOption, extraHelp, operationHelp } from './help.ts'
import { type Service, serviceAt, usualUrl } from './service.ts'
import { shown } from './shown.ts'

/** A command that is no single operation. */
export interface ExtraCommand {
  /** Its form after `backlot GROUP`, and what it does. */
  readonly form: string
  readonly summary: string
  readonly options: Readonly<Record<string, ExtraOption>>
  /** Gives the exit status. */
  run(call: {
    readonly service: Service
    readonly positionals: readonly string[]
    readonly values: Readonly<Record<string, string | boolean | undefined>>
    readonly json: boolean
  }): Promise<number>
}

const common = { url: { type: 'string' }, json: { type: 'boolean' }, detach: { type: 'boolean' } } as const

const usage = (group: Group, extras: Readonly<Record<string, ExtraCommand>>): string => {
  const declared = operationsOf(group)
    .filter(([, { command }]) => !Object.hasOwn(extras, command.words[0] ?? ''))
    .map(([, each]) => `${formOf(each)}\n    ${each.summary}`)
  const others = Object.values(extras).map(({ form, summary }) => `backlot ${group} ${form}\n    ${summary}`)
  return `${[...declared, ...others].join('\n')}

\`backlot ${group} COMMAND --help\` explains each option of a command.

${commonHelp}
${detachHelp}`
}

const commonHelp = `  --url URL  Address of the service, http://… or unix:PATH; ${environment.hostUrl} or ${usualUrl} when absent.
             ${environment.hostToken} holds the token of a service that asks for one.
  --json     Print JSON; always where standard output is no terminal.`
const detachHelp =
  "  --detach   Do not wait for what takes long: print the service's answer, with the id of the operation."

/** The help of the command that stands before `--help`; undefined where it is none. */
const helpOf = (
  group: Group,
  extras: Readonly<Record<string, ExtraCommand>>,
  args: readonly string[],
): string | undefined => {
  const at = args.indexOf('--help')
  const words = at === -1 ? args : args.slice(0, at)
  const [first = ''] = words
  const extra = Object.hasOwn(extras, first) ? extras[first] : undefined
  if (extra !== undefined) return extraHelp(extra, `backlot ${group} ${extra.form}`, commonHelp)
  const found = words.length === 0 ? undefined : findOperation(group, words)
  if (found === undefined) return undefined
  const isLong = takesLong(found.name)
  return operationHelp(found.declared, isLong ? `${commonHelp}\n${detachHelp}` : commonHelp)
}

/** The command of a group. */
export const groupCommand = (
  group: Group,
  summary: string,
  extras: Readonly<Record<string, ExtraCommand>>,
): Command => ({
  summary,
  usage: usage(group, extras),
  usageOf: (args) => helpOf(group, extras, args),
  async run(args) {
    const [first = '', ...others] = args
    const extra = Object.hasOwn(extras, first) ? extras[first] : undefined
    if (extra !== undefined) {
      const own = Object.entries(extra.options).map(
        ([name, { type, short, isMany }]) =>
          [name, { type, ...(short !== undefined && { short }), ...(isMany && { multiple: true }) }] as const,
      )
      const options = { ...Object.fromEntries(own), url: common.url, json: common.json }
      const { values, positionals } = readFlags(`${group} ${first}`, { args: others, allowPositionals: true, options })
      const service = serviceAt(values.url as string | undefined)
      const json = values.json === true || !isTerminal()
      return extra.run({ service, positionals, values: values as never, json })
    }
    const found = findOperation(group, args)
    if (found === undefined) {
      throw new Failure(
        'usage',
        `\`backlot ${group}\` does not know "${args.join(' ')}". \`backlot ${group} --help\` shows what it takes.`,
      )
    }
    const { name, declared, rest } = found
    const { values, positionals } = readFlags(group, {
      args: rest,
      allowPositionals: true,
      options: { ...optionsOf(declared), ...common },
    })
    const input = readInput(declared, positionals, values)
    const answer = await callOperation(serviceAt(values.url), name, input, values.detach)
    if (values.json || !isTerminal()) await print(JSON.stringify(answer, null, 2))
    else await print(values.detach ? JSON.stringify(answer) : shown(name, answer))
    return 0
  },
})
