/** `backlot sandbox`: the sandboxes of this machine or of a cloud. */
import { Failure } from '@backlot/contract/failure'
import { type LookupOptions, Sandbox } from '@backlot/sdk'
import type { Command } from '../command.ts'
import { nameToSdk } from '../executable.ts'
import { readFlags } from '../flags.ts'
import { create } from '../sandbox/create.ts'
import { info, logs, remove, restart, resume, suspend } from '../sandbox/keep.ts'
import { statusAfter } from '../sandbox/refused.ts'
import { connect, screenshot, view } from '../sandbox/screen.ts'
import { shell } from '../sandbox/shell.ts'
import { show } from '../sandbox/show.ts'
import type { Flags, Verb } from '../sandbox/verb.ts'
import { printJson } from '../terminal/output.ts'
import { isTerminal } from '../terminal/table.ts'

const list: Verb = {
  words: [0, 0],
  flags: ['json'],
  async run({ where, json }) {
    const infos = await Sandbox.list(where)
    await (json ? printJson(infos) : show(infos))
  },
}

const verbs: Readonly<Record<string, Verb>> = {
  list,
  ls: list,
  create,
  info,
  connect,
  shell,
  view,
  screenshot,
  suspend,
  resume,
  restart,
  delete: remove,
  rm: remove,
  logs,
  pool: {
    words: [0, 1],
    flags: ['size', 'json'],
    run: async ({ name, where, json, flags }) =>
      (await import('../sandbox/pool.ts')).showPools(name, flags.size, where, json),
  },
}

export const command: Command = {
  summary: 'Make, use, list and keep the sandboxes of this machine or of a cloud.',
  usage: `backlot sandbox list [--json]
    List them, newest first: those of the cloud where there is a key, else those of this machine. Also: ls.
backlot sandbox create [NAME] [--distro NAME | --image NAME | --disk PATH [--os OS]] [--strict]
        [--network NETWORK] [--mount HOST:PATH[:ro]]… [--cpu N] [--memory-mb N] [--disk-gb N]
        [--label KEY=VALUE]… [--ttl-ms N] [--json]
    Make a desktop, or what an image or a disk holds, that stays until it is deleted, and show it. Without NAME it gets two words and a number.
backlot sandbox info NAME [--json]
    Show one. A name is looked for on this machine first, then in the cloud; what \`backlot local start\` made is found too.
backlot sandbox connect NAME [--json]
    See that it answers, and print where agents reach its tools over MCP, with its key.
backlot sandbox shell NAME [-- COMMAND…]
    A terminal in it, or one command: one word is a line for its shell, several are a program and its arguments. Input,
    output, signals and the exit status are the command's.
backlot sandbox view NAME [--no-open] [--json]
    Print the address of its live screen, and open it where there is a browser.
backlot sandbox screenshot NAME [FILE]
    Write a picture of its screen as PNG; to standard output for \`-\` or without FILE, on a terminal to NAME.png.
backlot sandbox suspend NAME
    Stop it and save it.
backlot sandbox resume NAME
    Continue it.
backlot sandbox restart NAME
    Suspend and resume it.
backlot sandbox delete NAME
    Delete it with its disk. Also: rm.
backlot sandbox logs NAME [--follow]
    Print the lines of its log.
backlot sandbox pool [NAME] [--size N] [--runtime NAME]
    Keep N desktops of a runtime of this machine (local) started for who claims one; 0 ends them. Without a size: show the pools.

  --local             On this machine alone; for every verb.
  --runtime NAME      Of that runtime alone, \`cloud\` for the cloud; for every verb. Without it: what the verb says, or what the SDK finds.
  --distro NAME       The distribution that is wanted. Without it: the one that the runtime has.
  --image NAME        Start from an image of a registry, or of this machine's store. Without it: a desktop.
  --disk PATH         Start from a disk (qcow2, vhdx, raw, img), a disc (iso) or a zip of one, by path or address; with
                      \`--runtime qemu\` or \`vmhost\`. Without it: a desktop.
  --os OS             What is on that disk: linux or windows. Default: \`linux\`.
  --strict            Refuse another distribution than that.
  --network NETWORK   What it reaches: internet, loopback, none, or HOST,HOST:PORT,CIDR for these alone. Default: \`internet\`.
  --mount HOST:PATH   A folder of this machine and where the sandbox sees it; with :ro only to read. Without it: none.
  --cpu N             Processors. Without it: as many as the runtime gives.
  --memory-mb N       Memory in mebibytes. Without it: as much as the runtime gives.
  --disk-gb N         Files in gibibytes. Without it: as many as the runtime gives.
  --label KEY=VALUE   A pair to find it by; may be given several times. Without it: none.
  --ttl-ms N          Milliseconds after which it ends by itself. Without it: it stays.
  --size N            Desktops that the pool keeps started; 0 ends it. Without it: the pools are shown.
  --follow            Go on as lines are written.
  --no-open           Open no browser.
  --json              Print JSON; always where standard output is no terminal.`,
  async run(args) {
    nameToSdk()
    const dashes = args.indexOf('--')
    const after = dashes === -1 ? undefined : args.slice(dashes + 1)
    const { values, positionals } = readFlags('sandbox', {
      args: dashes === -1 ? [...args] : args.slice(0, dashes),
      allowPositionals: true,
      options: {
        local: { type: 'boolean' },
        runtime: { type: 'string' },
        follow: { type: 'boolean' },
        size: { type: 'string' },
        json: { type: 'boolean' },
        'no-open': { type: 'boolean' },
        distro: { type: 'string' },
        image: { type: 'string' },
        disk: { type: 'string' },
        os: { type: 'string' },
        network: { type: 'string' },
        mount: { type: 'string', multiple: true },
        cpu: { type: 'string' },
        'memory-mb': { type: 'string' },
        'disk-gb': { type: 'string' },
        label: { type: 'string', multiple: true },
        'ttl-ms': { type: 'string' },
        strict: { type: 'boolean' },
      },
    })
    const flags: Flags = values
    const [word = '', ...words] = positionals
    const verb = verbFor(word, words, flags, after)
    const [name = '', file] = words
    const where = {
      ...(flags.local && { local: true as const }),
      ...(flags.runtime !== undefined && { runtime: flags.runtime }),
    } as LookupOptions
    let status = 0
    const refused = await statusAfter(async () => {
      const json = flags.json === true || !isTerminal()
      const ended = await verb.run({ name, file, command: after, where, json, flags })
      if (typeof ended === 'number') status = ended
    })
    return refused === 0 ? status : refused
  },
}

/** The verb of a call. Throws `usage` where there is none, or it is not called so. */
const verbFor = (word: string, words: readonly string[], flags: Flags, after: readonly string[] | undefined): Verb => {
  const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined
  const [least, most] = verb?.words ?? [0, 0]
  if (verb === undefined || words.length < least || words.length > most) {
    throw new Failure(
      'usage',
      'Call it as `backlot sandbox list` or `backlot sandbox VERB NAME`; `--help` lists the verbs.',
    )
  }
  if (after !== undefined && (!verb.takesCommand || after.length === 0)) {
    throw new Failure(
      'usage',
      `\`backlot sandbox ${word}\` ${verb.takesCommand ? 'lacks a command' : 'takes none'} after --.`,
    )
  }
  const taken = new Set<string>(['local', 'runtime', ...(verb.flags ?? [])])
  const odd = Object.keys(flags).find((flag) => !taken.has(flag))
  if (odd !== undefined) throw new Failure('usage', `\`backlot sandbox ${word}\` takes no --${odd}.`)
  return verb
}
