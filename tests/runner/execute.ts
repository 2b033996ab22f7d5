/** Runs one job to its end: in namespaces of its own, or on the machine where those are not to be had. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Report, reportOfCargo, reportsOfBun, total } from './counts.ts'
import { keptOf } from './environment.ts'
import type { Counts, Job } from './job.ts'
import { added, descendants, traces } from './machine.ts'

/** A wait of a test for a condition. */
export interface Wait {
  readonly what: string
  readonly ms: number
}

/** What came of a job. */
export interface Result {
  readonly counts: Counts
  readonly failed: readonly string[]
  readonly skipped: readonly string[]
  /** What it left behind, a line each. */
  readonly left: readonly string[]
  /** Ids of the requirements that it proved. */
  readonly proofs: readonly string[]
  readonly waits: readonly Wait[]
  readonly seconds: number
  /** Processor time of all its processes that ended properly. */
  readonly cpuSeconds: number
  /** What of it the system took. */
  readonly systemSeconds: number
  readonly output: string
  /** The reports of its files, where it has several. */
  readonly files: ReadonlyMap<string, Report>
}

/** Where jobs run. */
export interface Place {
  readonly root: string
  /** Folder for what jobs keep; it is emptied at the start of a run. */
  readonly results: string
  /** Whether each job has namespaces of its own. */
  readonly apart: boolean
}

/** Jobs that run now: they do not outlive an interruption of this run. */
const running = new Set<Bun.Subprocess>()

let isEnding = false

/** Ends all jobs and what they started; none begins any more. */
export async function endAll(): Promise<void> {
  isEnding = true
  for (const child of running) child.kill('SIGKILL')
  await Promise.all([...running].map((child) => child.exited))
  for (const { pid } of descendants()) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

/** What drivers of the screen have compiled: without it each desktop compiles the same again for its first program. */
const shaders = (place: Place): string => join(place.root, 'target/shaders')

/** Folders whose content outlives a job: what is installed from registries or was compiled, and the results. */
const kept = (place: Place): string[] => [
  place.results,
  shaders(place),
  join(place.root, 'target/clients'),
  join(place.root, 'target/images'),
]

/** Runs a job; `only` are the names of the tests of a cargo binary to run again by themselves. */
export async function execute(job: Job, place: Place, only: readonly string[] = []): Promise<Result> {
  // The run ends; nobody waits for this one.
  if (isEnding) await new Promise(() => undefined)
  const { root, results } = place
  const folder = join(results, job.name.replaceAll(/[^\w.-]+/g, '-'))
  rmSync(folder, { recursive: true, force: true })
  for (const path of [folder, ...kept(place)]) mkdirSync(path, { recursive: true })
  const at = (name: string) => join(folder, name)
  // Home is another folder where the root is thrown away.
  const rust = { CARGO_HOME: join(homedir(), '.cargo'), RUSTUP_HOME: join(homedir(), '.rustup') }
  const own = {
    BACKLOT_BIN: join(root, 'dist/backlot'),
    BACKLOT_PROOFS: at('proofs.txt'),
    BACKLOT_TEST_WAITS: at('waits.txt'),
    MESA_SHADER_CACHE_DIR: shaders(place),
    ...(job.crate === undefined ? {} : { CARGO_MANIFEST_DIR: join(root, 'crates', job.crate) }),
    FORCE_COLOR: '0',
  }
  const cwd = job.crate === undefined ? root : join(root, 'crates', job.crate)
  const command = job.runner === 'bun' ? bunTest(job, at('junit.xml')) : cargoTest(job, only)
  const before = place.apart ? undefined : traces()
  const others = new Set(descendants().map(({ pid }) => pid))
  const log = openSync(at('output.txt'), 'a')
  const begun = performance.now()
  const child = Bun.spawn(place.apart ? inNamespaces(job, place, at('left.txt'), cwd, command) : command, {
    cwd: place.apart ? root : cwd,
    env: { ...rust, ...keptOf(process.env), ...own },
    stdin: 'ignore',
    // No pipes: who outlives the job would keep them open.
    stdout: log,
    stderr: log,
  })
  running.add(child)
  let late = false
  const limit = setTimeout(() => {
    late = true
    child.kill('SIGKILL')
  }, job.minutes * 60_000)
  await child.exited
  clearTimeout(limit)
  closeSync(log)
  running.delete(child)
  const seconds = (performance.now() - begun) / 1000
  const output = text(at('output.txt'))
  const left = before === undefined ? topmost(lines(at('left.txt'))) : await leftOnMachine(before, others)
  const files =
    job.runner === 'bun' ? reportsOfBun(text(at('junit.xml'))) : new Map([[job.name, reportOfCargo(output)]])
  const reports = [...files.values()]
  const counts = total(reports.map((report) => report.counts))
  const failed = reports.flatMap((report) => report.failed)
  // Those that no name matches are no skips, and a file of which none is asked for clears nothing away.
  if (job.tests !== undefined) counts.skipped = 0
  const isAsked = job.tests === undefined || counts.passed + counts.failed > 0
  if (child.exitCode !== 0 && counts.failed === 0 && !output.includes('matched 0 tests')) {
    counts.failed = 1
    failed.push(late ? `ended after its ${job.minutes} minutes` : `ended with ${child.signalCode ?? child.exitCode}`)
  }
  if (left.length > 0 && isAsked) {
    counts.failed += 1
    failed.push(`left behind: ${left.map((each) => each.slice(0, 300)).join('; ')}`)
  }
  const cpu = child.resourceUsage()?.cpuTime
  return {
    ...{ counts, failed, left, seconds, output, files },
    skipped: job.tests === undefined ? reports.flatMap((report) => report.skipped) : [],
    proofs: lines(at('proofs.txt')),
    waits: lines(at('waits.txt')).flatMap(waitOf),
    cpuSeconds: Number(cpu?.total ?? 0) / 1e6,
    systemSeconds: Number(cpu?.system ?? 0) / 1e6,
  }
}

/** Milliseconds for a test that says nothing else: far more than any needs, because machines are busy. */
const usualTestMs = 240_000

const bunTest = ({ files, tests }: Job, junit: string): string[] => [
  ...[process.execPath, 'test', '--timeout', String(usualTestMs), '--reporter=junit', `--reporter-outfile=${junit}`],
  ...(files.length > 1 ? ['--parallel=2'] : []),
  ...(tests === undefined ? [] : ['-t', tests]),
  ...files.map((file) => `./${file}`),
]

const cargoTest = ({ files: [binary = ''], tests }: Job, only: readonly string[]): string[] => [
  binary,
  ...(only.length > 0 ? ['--exact', '--test-threads=1', ...only] : tests === undefined ? [] : [tests]),
]

const inNamespaces = (job: Job, place: Place, left: string, cwd: string, command: readonly string[]): string[] => [
  join(place.root, 'tests/support/apart'),
  ...(job.network === 'host' ? ['--host-network'] : []),
  ...['--left', left, kept(place).join(':')],
  ...(cwd === place.root ? command : ['env', '-C', cwd, ...command]),
]

/** What a job left on the machine itself; its processes are ended, since they descend from this run. */
async function leftOnMachine(before: ReadonlySet<string>, others: ReadonlySet<number>): Promise<string[]> {
  // Who was told to end may take a moment.
  for (let tries = 0; tries < 20 && descendants(others).length > 0; tries += 1) await Bun.sleep(100)
  const processes = descendants(others)
  for (const { pid } of processes) process.kill(pid, 'SIGKILL')
  while (descendants(others).length > 0) await Bun.sleep(10)
  return [
    ...processes.map(({ pid, state, command }) => `process ${pid} (state ${state}): ${command}`),
    ...added(before, traces()),
  ]
}

/** Without what lies in a folder that is named itself; of that the first are told behind it. */
export const topmost = (found: readonly string[]): string[] => {
  const isIn = (line: string) => (other: string) => other.startsWith('file ') && line.startsWith(`${other}/`)
  return found
    .filter((line) => !found.some(isIn(line)))
    .map((line) => {
      const inside = found.filter((other) => isIn(other)(line)).map((other) => other.slice(line.length + 1))
      if (inside.length === 0) return line
      return `${line} (with ${inside.slice(0, 3).join(', ')}${inside.length > 3 ? ` and ${inside.length - 3} more` : ''})`
    })
}

/** The wait that a line tells of; a program that was killed may have left half a line. */
const waitOf = (line: string): Wait[] => {
  try {
    return [JSON.parse(line) as Wait]
  } catch {
    return []
  }
}

const text = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')
const lines = (path: string): string[] =>
  text(path)
    .split('\n')
    .filter((line) => line !== '')
