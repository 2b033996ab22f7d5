/** What is done with sandboxes that are there. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { privateDesktop } from '@backlot/contract/limits'
import {
  continueSandbox,
  deleteSandbox,
  findLevels,
  findSandbox,
  listSandboxes,
  locked,
  networksHere,
  SandboxFolder,
  sandboxesFolder,
  sandboxStateOf,
  snapshotsFolder,
  stopSandbox,
  suspendSandbox,
  sweep,
  sweepSnapshots,
} from '@backlot/local'
import { readFlags } from '../flags.ts'
import { print, printJson, printPart } from '../terminal/output.ts'
import { isTerminal, table } from '../terminal/table.ts'
import { build } from './build.ts'
import { confined } from './confined.ts'
import { layersVerbs } from './layers.ts'
import type { LocalVerb } from './local-verb.ts'
import { poolVerbs } from './pool/verbs.ts'
import { snapshotVerbs } from './snapshots.ts'
import { start, startSupervisor, superviseNamed } from './start.ts'

const named = async (verb: string, args: readonly string[]): Promise<SandboxFolder> => {
  const { positionals } = readFlags(`local ${verb}`, { args: [...args], allowPositionals: true, options: {} })
  const [name, ...more] = positionals
  if (name === undefined || more.length > 0) {
    throw new Failure(
      'usage',
      `\`backlot local ${verb}\` needs one name. \`backlot local list\` shows those there are.`,
    )
  }
  const base = sandboxesFolder()
  await sweep(base)
  return findSandbox(base, name)
}

/** Does something with one sandbox and prints what it is then, or its name where it is gone. */
const doing =
  (verb: string, work: (folder: SandboxFolder) => Promise<void>): LocalVerb =>
  async (args) => {
    const folder = await named(verb, args)
    await work(folder)
    await printJson(folder.exists ? sandboxStateOf(folder) : { name: folder.name })
    return 0
  }

const list: LocalVerb = async (args) => {
  const { values } = readFlags('local list', { args: [...args], options: { json: { type: 'boolean' } } })
  await sweepSnapshots(snapshotsFolder())
  const sandboxes = await listSandboxes(sandboxesFolder())
  if (values.json || !isTerminal()) await printJson({ sandboxes })
  else {
    const rows = sandboxes.map(({ name, status, isolation, network, ephemeral, created_at, api_url }) => ({
      name,
      status,
      isolation,
      network,
      ephemeral,
      created_at,
      api_url,
    }))
    await print(rows.length === 0 ? 'There are no sandboxes. `backlot local start` starts one.' : table(rows))
  }
  return 0
}

const levels: LocalVerb = async (args) => {
  const { values } = readFlags('local levels', { args: [...args], options: { json: { type: 'boolean' } } })
  const found = await findLevels()
  if (values.json || !isTerminal()) await printJson({ levels: found, networks: networksHere() })
  else {
    const lines = found.map(
      ({ level, works, reason, remedy }) =>
        `${works ? '✓' : '✗'} ${`${level}:`.padEnd(15)} ${reason}${remedy === null ? '' : `\n    mend: ${remedy}`}`,
    )
    await print(lines.join('\n'))
  }
  // What nobody gets unasked is no sandbox.
  return found.some(({ level, works }) => works && level !== 'none') ? 0 : 1
}

const resume: LocalVerb = async (args) => {
  const folder = await named('resume', args)
  const state = await locked(folder, async () => {
    const now = continueSandbox(folder)
    return now.status === 'stopped' ? startSupervisor({ folder }, privateDesktop.startTimeoutMs) : now
  })
  await printJson(state)
  return 0
}

const logs: LocalVerb = async (args) => {
  const follow = args.includes('--follow')
  const folder = await named(
    'logs',
    args.filter((word) => word !== '--follow'),
  )
  let file = openSync(folder.log, 'r')
  const bytes = Buffer.alloc(65_536)
  const showRest = async () => {
    for (let count = readSync(file, bytes); count > 0; count = readSync(file, bytes)) {
      await printPart(bytes.toString('utf8', 0, count))
    }
  }
  while (follow && folder.exists) {
    await showRest()
    await Bun.sleep(recheckMs)
    const next = openNext(folder.log, file)
    if (next === null) continue
    await showRest()
    closeSync(file)
    file = next
  }
  await showRest()
  closeSync(file)
  return 0
}

/** Milliseconds between two looks at a log that is followed. */
const recheckMs = 50

/** The log that has been begun since the one that is open; null where there is none. */
const openNext = (path: string, file: number): number | null => {
  let next: number
  try {
    next = openSync(path, 'r')
  } catch {
    return null
  }
  if (fstatSync(next).ino !== fstatSync(file).ino) return next
  closeSync(next)
  return null
}

const supervise: LocalVerb = ([name = '', timeoutMs = '']) =>
  superviseNamed(new SandboxFolder(sandboxesFolder(), name), Number(timeoutMs))

/** The verbs by their names. */
export const verbs: Readonly<Record<string, LocalVerb>> = {
  start,
  list,
  info: doing('info', async () => undefined),
  stop: doing('stop', stopSandbox),
  delete: doing('delete', deleteSandbox),
  suspend: doing('suspend', suspendSandbox),
  resume,
  logs,
  levels,
  build,
  supervise,
  confined,
  ...layersVerbs,
  ...snapshotVerbs,
  ...poolVerbs,
}
