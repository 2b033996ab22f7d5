/** `backlot vm`: the operations on virtual machines, read off their declarations; their console and their log. */
import { Failure } from '@backlot/contract/failure'
import { vmAnchor } from '@backlot/contract/vmhost/console'
import { storage } from '@backlot/contract/vmhost/location'
import { placeNamed } from '../host/declared.ts'
import { type Extra, groupCommand } from '../host/group.ts'
import { printGuestOutput } from '../host/guest-output.ts'
import { logLines } from '../host/log-lines.ts'
import { print, printJson } from '../terminal/output.ts'

const only = (positionals: readonly string[], form: string): string => {
  const [name] = positionals
  if (name === undefined || positionals.length > 1) throw new Failure('usage', `Call it as \`backlot vm ${form}\`.`)
  return name
}

/** What every command takes that means one VM. */
const where = {
  storage: {
    type: 'string',
    value: 'LOCATION|PATH',
    description: String(storage.description),
    absent: 'looked for in the default location, then in the others',
  },
} as const

const placed = (name: string, values: Readonly<Record<string, string | boolean | undefined>>) => {
  const { storage: named } = values
  return { name, ...(typeof named === 'string' && { storage: placeNamed(named) }) }
}

const consoleForm = 'console [NAME] [--storage LOCATION|PATH]'

const console: Extra = {
  form: consoleForm,
  summary: 'Print a link to the web page with the VMs and their screens; where a token is asked for it works once.',
  options: where,
  async run({ service, positionals, values, json }) {
    const name = positionals.length === 0 ? undefined : only(positionals, consoleForm)
    const vm = name === undefined ? undefined : await service.client.getVm(placed(name, values))
    const { url } = await service.client.makeConsoleLink()
    const link = vm === undefined ? url : `${url}#${vmAnchor(vm)}`
    await (json ? printJson({ url: link }) : print(link))
    return 0
  },
}

const logsForm = 'logs NAME [--storage LOCATION|PATH]'

const logs: Extra = {
  form: logsForm,
  summary: 'Show what the service logged about a VM, how it ended last, and the last words of its hypervisor.',
  options: where,
  async run({ service, positionals, values, json }) {
    const name = only(positionals, logsForm)
    const { lastEnding, locationName } = await service.client.getVm(placed(name, values))
    const log = await logLines(service, { vm: name, lines: 10_000 })
    const operations = await service.client.listOperations()
    const messages = operations
      .filter((operation) => operation.name === name && operation.location === locationName)
      .flatMap((operation) => operation.messages)
    if (json) await printJson({ log, messages, lastEnding })
    else {
      for (const line of [...log, ...messages]) await print(line)
      if (lastEnding !== null) await print(`${lastEnding.at} it ended: ${lastEnding.cause}`)
    }
    return 0
  },
}

/** Variables of options `NAME=VALUE`; throws `usage`. */
const variables = (given: unknown): Record<string, string> =>
  Object.fromEntries(
    [given].flat().map((each) => {
      const [, name, value] = /^([A-Za-z_]\w*)=(.*)$/s.exec(String(each)) ?? []
      if (name === undefined || value === undefined)
        throw new Failure('usage', `"--env ${each}" is no variable; write \`--env NAME=VALUE\`.`)
      return [name, value]
    }),
  )

const execForm =
  'exec NAME COMMAND [--env NAME=VALUE]… [--folder PATH] [--input] [--timeout-seconds SECONDS] [--storage LOCATION|PATH]'

const exec: Extra = {
  form: execForm,
  summary: "Run a command with the guest's shell, through its agent; ends with the command's exit status.",
  options: {
    ...where,
    env: {
      type: 'string',
      isMany: true,
      value: 'NAME=VALUE',
      description: 'A variable of the command; the option may be given several times.',
      absent: 'the variables of the agent',
    },
    folder: {
      type: 'string',
      value: 'PATH',
      description: 'Folder of the guest in which it begins.',
      absent: 'that of the agent',
    },
    input: { type: 'boolean', description: 'The command reads what standard input holds, a million letters at most.' },
    'timeout-seconds': {
      type: 'string',
      value: 'SECONDS',
      description: 'Seconds that the command may take, 0.1 to 3600; what takes longer is ended.',
      absent: '60',
    },
  },
  async run({ service, positionals, values }) {
    const [name, ...words] = positionals
    if (name === undefined || words.length === 0) throw new Failure('usage', `Call it as \`backlot vm ${execForm}\`.`)
    const seconds = values['timeout-seconds']
    const result = await service.client.execInVm({
      ...placed(name, values),
      command: words.join(' '),
      ...(values.env !== undefined && { environment: variables(values.env) }),
      ...(typeof values.folder === 'string' && { folder: values.folder }),
      ...(values.input === true && { input: await Bun.stdin.text() }),
      ...(seconds !== undefined && { timeoutSeconds: Number(seconds) }),
    })
    return printGuestOutput(result)
  },
}

export const command = groupCommand('vm', 'Make, run and keep virtual machines.', { exec, console, logs })
