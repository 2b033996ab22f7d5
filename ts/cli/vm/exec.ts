/** `backlot vm exec`: a command in a guest, its input and output as they come. */
import { fstatSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import type { ExtraCommand } from '../host/group.ts'
import { runStreamed } from '../host/guest-stream.ts'
import { placed, where } from './where.ts'

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

/** Whether standard input is something that somebody leads to the command. */
const isGiven = (): boolean => {
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isSocket() || input.isFile()
  } catch {
    return false
  }
}

const form =
  'exec NAME COMMAND [--env NAME=VALUE]… [--folder PATH] [--input] [--timeout-seconds SECONDS] [--storage LOCATION|PATH]'

export const exec: ExtraCommand = {
  form,
  summary:
    "Run a command with the guest's shell, through its agent, give it what standard input holds and show what it writes as it comes; ends with the command's exit status.",
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
    input: {
      type: 'boolean',
      description: 'The command reads standard input as it comes, also from a terminal.',
      absent: 'as if it were given where standard input is a pipe, a socket or a file',
    },
    'timeout-seconds': {
      type: 'string',
      value: 'SECONDS',
      description: 'Seconds that the command may take, 0.1 to 3600; what takes longer is ended.',
      absent: '60',
    },
  },
  async run({ service, positionals, values }) {
    const [name, ...words] = positionals
    if (name === undefined || words.length === 0) throw new Failure('usage', `Call it as \`backlot vm ${form}\`.`)
    const seconds = values['timeout-seconds']
    return runStreamed(service, {
      ...placed(name, values),
      command: words.join(' '),
      ...(values.env !== undefined && { environment: variables(values.env) }),
      ...(typeof values.folder === 'string' && { folder: values.folder }),
      ...((values.input === true || isGiven()) && { input: Bun.stdin.stream() }),
      ...(seconds !== undefined && { timeoutSeconds: Number(seconds) }),
    })
  },
}
