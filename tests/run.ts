/**
 * Runs the tests and sums up: `bun tests/run.ts [FILTER] [--all | --changed] [--soak | --soak-group N] [--record]`.
 *
 * Each test file and each test program of cargo's is a job. Jobs run side by side, each in namespaces of its own, or one
 * after another on the machine itself where there are none. A job whose result is kept under the hash of all that it
 * reaches is not run and counts as proved; `--all`, `--record`, a FILTER and the variable `CI` run what there is.
 *
 * FILTER is a part of a test file's path, the name of a crate, or else a part of test names. `--changed` runs what
 * reaches a file that differs from the last commit, the likeliest to notice first; `--bail` begins nothing after a failure.
 * `--soak` adds the groups of tests/soak (a file is a group),
 * `--soak-group N` one of them, N modulo their number; `--soak-scale F` makes them F times as long. `--jobs N` says how
 * many jobs run side by side. `--record` keeps what is proved, the times, the flaky tests, and the pages that tests wrote.
 * The last lines are the tally of requirements and `N passed, N failed, N skipped`.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { total } from './runner/counts.ts'
import { endAll, execute, type Place, type Result } from './runner/execute.ts'
import { counted, mostFlaky, namesOf, triesEndMs, worthAgain } from './runner/flaky.ts'
import { type Job, plan, unitTests } from './runner/job.ts'
import { Contents, keepResults, type Results, readNumbers, readResults, writeNumbers } from './runner/kept.ts'
import { added, adoptDescendants, descendants, onlyRun, traces } from './runner/machine.ts'
import { longestFirst, pool } from './runner/pool.ts'
import { Pressure } from './runner/pressure.ts'
import { Tree } from './runner/reach.ts'
import { type Done, failures, line, times } from './runner/report.ts'
import { changedFiles, hashesOf, nearestFirst, reaching, unchanged } from './runner/select.ts'
import { unexpected } from './runner/skips.ts'
import { files as allFiles, root } from './shape/sources.ts'
import { keepProved, summary, tallyOfRun } from './spec/tally.ts'
import { prepare } from './support/prepared.ts'
import { testBinaries } from './support/test-binaries.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: 'boolean', default: false },
    changed: { type: 'boolean', default: false },
    bail: { type: 'boolean', default: false },
    soak: { type: 'boolean', default: false },
    'soak-group': { type: 'string' },
    'soak-scale': { type: 'string' },
    record: { type: 'boolean', default: false },
    jobs: { type: 'string' },
  },
})
const filter = positionals[0]
/** By how much jobs may use more than there is, by what they were seen to use: they seldom use all of it at once. In CI, whose
 * machine may be busy with other things, they may not. */
const overbooked = 1.25
/** Processes for each processor that may be ready to run where a further job begins. */
const mostRunnable = 3
/** Milliseconds in which a job shows what it uses; one that takes a second or two is almost over then. */
const showsItselfMs = (seconds: number): number => Math.min(1_000, 100 * seconds)
/** Seconds of a job of which nothing is known. */
const usualSeconds = 10
/** Jobs that run at once for each processor: most of the long ones mostly wait. */
const mostJobs = 6
/** Percent of a processor that a job uses of which nothing is known. */
const usualLoad = 50
const percent = ({ seconds, cpuSeconds }: Result): number => Math.round((100 * cpuSeconds) / Math.max(seconds, 0.1))
const inCi = ['1', 'true'].includes(process.env.CI ?? '')
const number = (flag: string, value: string | undefined, usual: number): number => {
  const given = value === undefined ? usual : Number(value)
  if (Number.isFinite(given) && given >= 0) return given
  console.error(`--${flag} takes a number, not "${value}"`)
  process.exit(64)
}
const group = values['soak-group'] === undefined ? undefined : number('soak-group', values['soak-group'], 0)
const soakScale = number('soak-scale', values['soak-scale'], 1)
process.env.BACKLOT_SOAK_SCALE = String(soakScale)

const results = join(root, 'target', 'test-results')
const keptFile = join(root, 'target', 'test-kept.json')
const timesFile = join(root, 'tests', 'times.txt')
const loadsFile = join(root, 'tests', 'loads.txt')
const flakyFile = join(root, 'tests', 'flaky.txt')
mkdirSync(join(root, 'target'), { recursive: true })
const other = onlyRun(join(root, 'target', 'test-run.pid'))
if (other !== undefined) {
  console.error(`the tests of this checkout are running already, as process ${other}; wait for it or end it`)
  process.exit(75)
}
rmSync(results, { recursive: true, force: true })
mkdirSync(results, { recursive: true })

for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, async () => {
    await endAll()
    process.exit(status)
  })
}
adoptDescendants()

const tests = allFiles.filter((file) => /^(ts|tests)\/.*\.test\.ts$/.test(file))
const planned = plan({ files: tests, binaries: testBinaries(), filter, soak: group ?? values.soak, soakScale })

// What need not run.
const tree = new Tree(root, allFiles)
const hashes = hashesOf(planned, tree, new Contents(root))
const kept = readResults(keptFile)
const runsAll = values.all || values.record || inCi || filter !== undefined
const spared = runsAll ? new Set<string>() : unchanged(hashes, kept)
const changed = values.changed ? changedFiles(root) : []
const wanted = values.changed ? reaching(planned, tree, changed) : planned
const proofs = new Set<string>()
let unchangedTests = 0
for (const { name } of wanted) {
  if (!spared.has(name)) continue
  unchangedTests += kept[name]?.counts.passed ?? 0
  for (const id of kept[name]?.proofs ?? []) proofs.add(id)
}
const probe = Bun.spawnSync([join(root, 'tests/support/apart'), '--probe', process.execPath, '--revision'])
const place: Place = { root, results, apart: probe.success }
const noNamespaces = probe.stderr.toString().trim()
if (!place.apart) console.log(`one job after another, on this machine itself: ${noNamespaces}`)
const refused = place.apart ? [] : wanted.filter(({ dangerous }) => dangerous)
const jobs = wanted.filter((job) => !spared.has(job.name) && !refused.includes(job))
if (values.changed) console.log(`${jobs.length} of ${planned.length} jobs reach what differs from the last commit`)

const cores = availableParallelism()
const width = place.apart ? Math.max(1, number('jobs', values.jobs, cores * mostJobs)) : 1

const begun = performance.now()
const before = traces(place.apart)
const done: Done[] = []
const known = new Map([
  ...readNumbers(timesFile),
  ...Object.entries(kept).map(([name, { seconds }]) => [name, seconds] as const),
])

if (jobs.length > 0) await prepare(jobs.map(({ name }) => name))
const preparedSeconds = (performance.now() - begun) / 1000
const flaky: string[] = []
const flakyBefore = readNumbers(flakyFile)

/** Runs the failed tests of a job once more by themselves; what passes then takes the place of what failed. */
const tryAgain = async (entry: Done): Promise<void> => {
  const { job, result } = entry
  if (triedAgain.has(job.name) || !worthAgain(job, result, flakyBefore)) return
  triedAgain.add(job.name)
  const only = job.runner === 'cargo' ? result.failed : []
  const second = await execute(job, place, only)
  console.log(line({ job, result: second }, 'again'))
  if (second.counts.failed > 0 || second.counts.passed < Math.max(1, only.length)) {
    console.log(second.output)
    return
  }
  flaky.push(...namesOf(job, result))
  const ofOnly = { passed: only.length, failed: -only.length, skipped: 0 }
  const counts = only.length > 0 ? total([result.counts, ofOnly]) : second.counts
  const proofs = [...result.proofs, ...second.proofs]
  done[done.indexOf(entry)] = { job, result: { ...second, counts, failed: [], proofs } }
}
const triedAgain = new Set<string>()

const ordered = longestFirst(jobs, known)
const loads = readNumbers(loadsFile)
// Half of the jobs mostly wait: as many run as use the processors up.
const used = ({ name }: Job): number => (loads.get(name) ?? usualLoad) / 100
const isCounted = values.jobs === undefined
using pressure = new Pressure()
// Another machine may be slower than the shares say.
let shownAt = Number.NEGATIVE_INFINITY
const isBusy = () => isCounted && (pressure.average > mostRunnable * cores || performance.now() < shownAt)
const room = { width, processors: isCounted ? cores * (inCi ? 1 : overbooked) : width, used, isBusy }
await pool(values.changed ? nearestFirst(ordered, tree, changed) : ordered, room, async (job) => {
  if (values.bail && done.some(({ result }) => result.counts.failed > 0)) return
  shownAt = performance.now() + showsItselfMs(known.get(job.name) ?? usualSeconds)
  const result = await execute(job, place)
  const entry = { job, result }
  done.push(entry)
  if (result.counts.failed > 0) console.log(result.output)
  if (job.tests !== undefined && result.counts.passed + result.counts.failed === 0) return
  console.log(line({ job, result }, `${String(done.length).padStart(3)}/${jobs.length}`))
  for (const name of result.failed) console.log(`     failed: ${name}`)
  // An accident ends nothing.
  if (values.bail && result.counts.failed > 0) await tryAgain(entry)
})

// What failed by accident passes by itself.
const failing = done.filter(({ result }) => result.counts.failed > 0)
const triesEnd = performance.now() + triesEndMs
if (failing.length <= mostFlaky(jobs.length)) {
  for (const entry of failing) if (performance.now() < triesEnd) await tryAgain(entry)
}

// What the run left, beside what its jobs were asked for themselves.
const left = [
  ...descendants().map(({ pid, command }) => `process ${pid}: ${command}`),
  ...added(before, traces(place.apart)),
]
for (const { pid } of descendants()) process.kill(pid, 'SIGKILL')

const sum = total(done.map(({ result }) => result.counts))
if (left.length > 0) {
  sum.failed += 1
  console.log(`the run left behind: ${left.join('; ')}`)
}
sum.skipped += refused.length
const skipped = [
  ...refused.map(({ name }) => `${name}: all of it (${noNamespaces})`),
  ...done.flatMap(({ job, result }) => result.skipped.map((name) => `${job.name}: ${name}`)),
]
for (const name of skipped) console.log(`skipped: ${name}`)
const surprising = inCi ? unexpected(skipped) : []
if (surprising.length > 0) {
  sum.failed += surprising.length
  console.log(`${surprising.length} of these skips are not expected where all tests run`)
}

const clean: Results = {}
for (const { job, result } of done) {
  for (const id of result.proofs) proofs.add(id)
  const isFlaky = flaky.some((name) => name.startsWith(`${job.name}: `))
  if (result.counts.failed > 0 || isFlaky || job.soaks || job.tests !== undefined || job.name === unitTests) continue
  clean[job.name] = {
    hash: hashes.get(job.name) ?? '',
    counts: result.counts,
    proofs: result.proofs,
    seconds: result.seconds,
  }
}
keepResults(keptFile, clean)

const isWhole = filter === undefined && !values.changed && done.length === jobs.length
const proofsFile = join(results, 'proofs.txt')
writeFileSync(proofsFile, [...proofs].map((id) => `${id}\n`).join(''))
const tally = tallyOfRun(proofsFile, isWhole)
if (values.record) {
  writeNumbers(
    flakyFile,
    'How often a test failed in a recorded run and passed by itself; twice is a defect.',
    counted(flakyBefore, flaky),
  )
}
if (values.record && isWhole && sum.failed === 0) {
  keepProved(tally)
  const seconds = done.map(({ job, result }) => [job.name, Math.round(result.seconds)] as const)
  writeNumbers(timesFile, 'Seconds of each job, by which a run begins with the longest.', new Map(seconds))
  const load = done.map(({ job, result }) => [job.name, percent(result)] as const)
  writeNumbers(loadsFile, 'Percent of a processor that each job uses while it runs.', new Map(load))
  // Pages that tests write about what they saw: only a run without a failure saw all of it.
  const pages = join(results, 'docs')
  if (existsSync(pages)) cpSync(pages, join(root, 'docs'), { recursive: true })
}
for (const error of isWhole ? tally.errors : []) console.log(error)
// Again at the end, where one looks first and what was cut from a long output still stands.
for (const text of failures(done)) console.log(text)
for (const name of flaky) console.log(`flaky: ${name} (failed, and passed when it was run again by itself)`)
console.log(`preparing took ${preparedSeconds.toFixed(1)} s`)
for (const text of times(done, (performance.now() - begun) / 1000, cores)) console.log(text)
if (unchangedTests > 0)
  console.log(`${unchangedTests} unchanged (they passed with all that they reach as it is now; --all runs them)`)
const isEmpty = sum.passed === 0 && unchangedTests === 0 && !values.changed
if (isEmpty && sum.failed === 0)
  console.log(`no test ran: "${filter ?? ''}" is part of no path, no crate and no test's name`)
console.log(summary(tally))
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`)
const isWrong = sum.failed > 0 || (isWhole && tally.errors.length > 0 && !values.record)
process.exit(isWrong || isEmpty ? 1 : 0)
