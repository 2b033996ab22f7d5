/** `backlot vm`: the operations on virtual machines, read off their declarations; their console and their log. */
import { Failure } from '@backlot/contract/failure'
import { vmAnchor } from '@backlot/contract/vmhost/console'
import { type ExtraCommand, groupCommand } from '../host/group.ts'
import { logLines } from '../host/log-lines.ts'
import { print, printJson } from '../terminal/output.ts'
import { cp } from '../vm/cp.ts'
import { exec } from '../vm/exec.ts'
import { shell } from '../vm/shell.ts'
import { placed, where } from '../vm/where.ts'

const only = (positionals: readonly string[], form: string): string => {
  const [name] = positionals
  if (name === undefined || positionals.length > 1) throw new Failure('usage', `Call it as \`backlot vm ${form}\`.`)
  return name
}

const consoleForm = 'console [NAME] [--storage LOCATION|PATH]'

const console: ExtraCommand = {
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

const logs: ExtraCommand = {
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

export const command = groupCommand('vm', 'Make, run and keep virtual machines.', { exec, cp, shell, console, logs })
