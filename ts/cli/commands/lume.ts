/** `backlot lume`: answers like `lume`, for the scripts and clients that call it. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { hostInterface } from '@backlot/contract/limits'
import { shellText } from '@backlot/contract/text/shell-text'
import type { Command } from '../command.ts'
import { programCalled } from '../executable.ts'
import { readFlags } from '../flags.ts'
import { serviceAt } from '../host/service.ts'
import { runInGuest } from '../lume/ssh.ts'
import { runOptions, runWords, type Verb, verbs } from '../lume/verbs.ts'
import { print } from '../terminal/output.ts'
import { command as host } from './host.ts'
import { command as serve } from './serve.ts'
import { command as vm } from './vm.ts'

const commands: Readonly<Record<string, Command>> = { vm, host, serve }

/** Does what `backlot WORDS` does. */
const backlot = ([name = '', ...words]: readonly string[]): Promise<number> => {
  const command = commands[name]
  if (command === undefined) throw new Failure('internal', `"${name}" is no command that words of lume stand for.`)
  return command.run(words)
}

const own: Readonly<Record<string, { form: string; run(args: readonly string[]): Promise<number> }>> = {
  get: {
    form: 'get NAME [--format json|text] [--storage NAME]',
    async run(args) {
      const { values, positionals } = readFlags('lume', {
        args: [...args],
        allowPositionals: true,
        options: { format: { type: 'string', short: 'f' }, storage: { type: 'string' } },
      })
      const storage = values.storage === undefined ? [] : ['--storage', values.storage]
      if (values.format !== 'json') return backlot(['vm', 'get', ...positionals, ...storage])
      const [name = ''] = positionals
      const record = await serviceAt().client.getVm({ name, ...(values.storage && { storage: values.storage }) })
      // A list of one, as scripts expect it.
      await print(JSON.stringify([record], null, 2))
      return 0
    },
  },
  run: {
    form: 'run NAME [--no-display] [--shared-dir PATH[:ro]]… [--storage NAME] [--detach]',
    async run(args) {
      const given = readFlags('lume', { args: [...args], allowPositionals: true, options: runOptions })
      const status = await backlot(runWords(given as never))
      if (status !== 0 || given.values.detach) return status
      const { storage } = given.values
      return attend({ name: given.positionals[0] ?? '', ...(storage !== undefined && { storage }) })
    },
  },
  ssh: {
    form: 'ssh NAME [COMMAND] [--user NAME] [--timeout SECONDS] [--storage NAME]',
    run(args) {
      const { values, positionals } = readFlags('lume', {
        args: [...args],
        allowPositionals: true,
        options: {
          user: { type: 'string', short: 'u' },
          password: { type: 'string', short: 'p' },
          timeout: { type: 'string', short: 't' },
          storage: { type: 'string' },
        },
      })
      const [name, ...words] = positionals
      if (name === undefined) throw new Failure('usage', 'Call it as `backlot lume ssh NAME [COMMAND]`.')
      const timeoutSeconds = Number(values.timeout ?? 60)
      const { user, storage } = values
      return runInGuest(serviceAt(), { name, storage, command: words.join(' '), user, timeoutSeconds })
    },
  },
  'install-shim': {
    form: 'install-shim DIR',
    async run([folder, ...rest]) {
      if (folder === undefined || rest.length > 0) {
        throw new Failure('usage', 'Call it as `backlot lume install-shim DIR`, with a folder that is on PATH.')
      }
      const { command } = programCalled('backlot')
      const path = join(resolve(folder), 'lume')
      mkdirSync(resolve(folder), { recursive: true })
      const words = command.map(shellText).join(' ')
      writeFileSync(path, `#!/bin/sh\nexec ${words} lume "$@"\n`)
      chmodSync(path, 0o755)
      await print(path)
      return 0
    },
  },
}

/** Stays until a VM has ended, as `lume run` does; an interruption stops the VM. */
const attend = async (vm: { readonly name: string; readonly storage?: string }): Promise<number> => {
  const { client } = serviceAt()
  let stopping: Promise<unknown> | undefined
  const stop = () => {
    stopping ??= client.stopVm(vm).catch(() => undefined)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
  while ((await client.getVm(vm)).status !== 'stopped') await Bun.sleep(500)
  await stopping
  return 0
}

const forms = [...Object.values(verbs), ...Object.values(own)].map(({ form }) => `backlot lume ${form}`)

export const command: Command = {
  summary: 'Answer like `lume`, for the scripts and clients that call it.',
  usage: `${forms.join('\n')}

\`install-shim\` writes a small program \`lume\` into a folder, which calls this. \`ssh\` runs a command through the guest
agent where one answers and no user is named, else through ssh. \`run\` stays until the VM ends, unless --detach is given.`,
  async run([word = '', ...args]) {
    if (word === '--version') {
      await print(hostInterface.version)
      return 0
    }
    const mine = Object.hasOwn(own, word) ? own[word] : undefined
    if (mine !== undefined) return mine.run(args)
    const verb: Verb | undefined = Object.hasOwn(verbs, word) ? verbs[word] : undefined
    if (verb === undefined) {
      throw new Failure(
        'usage',
        `\`backlot lume\` does not know "${word}". \`backlot lume --help\` shows what it takes.`,
      )
    }
    const given = readFlags('lume', { args, allowPositionals: true, options: verb.options })
    return backlot(verb.words(given as never))
  },
}
