/** Private desktops that are opened, used and ended, and what is left of them. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromiumFlags, firefoxFlags } from './applications.ts'
import { backlotCommand } from './backlot.ts'
import { markedCommand, processesMarked } from './resource-mark.ts'
import { type RunawayKind, runaway, runawayKinds } from './runaway.ts'
import { until } from './until.ts'

/** The folder of some desktops: where they live, and where their programs write. */
export class EndedDesktops implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'bk-'))
  readonly #mountsBefore = mounts()

  at(...names: string[]): string {
    return join(this.folder, ...names)
  }

  /** What is left of all desktops together when none is in use: sockets, locks, mounts. */
  left(): string[] {
    const files = (folder: string, wanted: RegExp) =>
      existsSync(folder) ? readdirSync(folder).filter((name) => wanted.test(name)) : []
    return [
      ...files('/tmp/.X11-unix', /^X/).map((name) => `socket ${name}`),
      ...files('/tmp', /^\.X.*-lock$/).map((name) => `lock ${name}`),
      ...mounts()
        .filter((path) => !this.#mountsBefore.includes(path))
        .map((path) => `mount ${path}`),
    ]
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const mounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')

const runawayNames = Object.keys(runawayKinds) as RunawayKind[]

/** Programs on a desktop, by name; `scratch` is a folder of the round. */
const programs = {
  chromium: (scratch: string) => ['chromium', ...chromiumFlags(join(scratch, 'chromium')), 'about:blank'],
  firefox: (scratch: string) => ['firefox-esr', ...firefoxFlags(join(scratch, 'firefox')), 'about:blank'],
  /** What it leaves keeps the environment only where it does not descend from the desktop. */
  runaway: (scratch: string, opener: Opener, number: number) => {
    const kind = opener === 'shell' ? 'sleeps' : (runawayNames[number % runawayNames.length] ?? 'sleeps')
    const words = runaway(kind, join(scratch, 'gone'), ...(opener === 'shell' ? (['keep'] as const) : []))
    // Its first process stays too.
    return ['sh', '-c', '"$@"; exec sleep 1000', 'sh', ...words]
  },
} as const satisfies Record<string, (scratch: string, opener: Opener, number: number) => string[]>

/** Who opens a desktop: `backlot desktop -- COMMAND`, `backlot desktop` and who has its variables, or a program of ours. */
export const openers = ['command', 'shell', 'library'] as const
export type Opener = (typeof openers)[number]

export const programNames = Object.keys(programs) as (keyof typeof programs)[]

/** How it ends: as it is meant to, or by a signal to the process that owns it. */
export const ends = ['clean', 'SIGTERM', 'SIGKILL'] as const

/** One start and end. */
export interface Round {
  readonly number: number
  readonly opener: Opener
  readonly program: keyof typeof programs
  readonly end: (typeof ends)[number]
  /** When it ends: milliseconds after its start, or with `isUsed` after the program's start. */
  readonly afterMs: number
  readonly isUsed: boolean
}

const library = `
  import { startDesktop } from '@backlot/headless'
  const stop = new AbortController()
  let desktop
  process.on('SIGINT', async () => {
    stop.abort()
    await desktop?.[Symbol.asyncDispose]()
    process.exit(0)
  })
  desktop = await startDesktop({ signal: stop.signal }).catch((error) => {
    if (error.code === 'cancelled') process.exit(0)
    throw error
  })
  await desktop.start(process.argv.slice(2))
  await Bun.write(process.argv[1], 'ready')
  setInterval(() => {}, 60_000)
`

const variablesIn = (exports: string): Record<string, string> =>
  Object.fromEntries([...exports.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]))

/** Plays a round, and gives what is left of it when that no longer changes. */
export const endedDesktop = async (all: EndedDesktops, round: Round): Promise<string[]> => {
  const { number, opener, end, afterMs, isUsed } = round
  const mark = 100_000 + number
  // Every other one shares its runtime folder with others, which sweep there.
  const home = all.at(number % 2 === 0 ? 'shared' : `h${number}`)
  const scratch = all.at(`s${number}`)
  mkdirSync(join(scratch, 'home'), { recursive: true })
  const said = join(scratch, 'said')
  const program = programs[round.program](scratch, opener, number)
  const env = { ...process.env, BACKLOT_HOME: home, TMPDIR: scratch, HOME: join(scratch, 'home') }
  const start = (command: readonly string[], more: Record<string, string> = {}) =>
    Bun.spawn(markedCommand(mark, command), {
      cwd: import.meta.dir,
      env: { ...env, ...more },
      stdin: 'ignore',
      stdout: Bun.file(said),
      stderr: Bun.file(join(scratch, 'errors')),
    })
  const ready = `echo ready >'${said}'; `
  // A command that ends, and leaves its program behind.
  const ending = `${ready}"$@" & sleep ${(afterMs / 1000).toFixed(3)}`
  const commands: Record<Opener, readonly string[]> = {
    command: backlotCommand(
      'desktop',
      '--',
      ...['sh', '-c', end === 'clean' && isUsed ? ending : `${ready}exec "$@"`, 'sh', ...program],
    ),
    shell: backlotCommand('desktop'),
    library: [process.execPath, '-e', library, said, ...program],
  }
  const owner = start(commands[opener])
  if (isUsed) {
    const wanted = opener === 'shell' ? 'BACKLOT_DESKTOP' : 'ready'
    const text = () => (existsSync(said) ? readFileSync(said, 'utf8') : '')
    await until(`the desktop of round ${number} to be in use`, () => text().includes(wanted), 60_000)
    if (opener === 'shell') {
      Bun.spawn(markedCommand(mark, program), {
        env: { ...env, ...variablesIn(text()) },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'ignore',
      })
    }
  }
  const endsItself = opener === 'command' && end === 'clean' && isUsed
  if (!endsItself) {
    await Bun.sleep(afterMs)
    owner.kill(end === 'clean' ? 'SIGINT' : end)
  }
  const desktops = () => {
    const runtime = join(home, 'runtime')
    return existsSync(runtime) ? readdirSync(runtime).filter((name) => name.includes(`-${owner.pid}-`)) : []
  }
  const left = () => [...processesMarked(mark), ...desktops().map((name) => `folder ${name}`)]
  // One look may miss who starts another and ends.
  let found = left()
  let emptyLooks = 0
  const isEmpty = () => {
    found = left()
    emptyLooks = found.length === 0 ? emptyLooks + 1 : 0
    return emptyLooks > 1
  }
  await until(`the end of round ${number}`, isEmpty, 60_000).catch(() => undefined)
  if (found.length === 0) rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
  return found
}
