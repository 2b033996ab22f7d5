/**
 * Runs the tests and sums up: `bun tests/run.ts [FILTER] [--soak | --soak-group N] [--record]`.
 *
 * FILTER is a part of a test file's path, the name of a crate, or else a part of test names. `--soak` adds the groups
 * of tests/soak (a file is a group), `--soak-group N` one of them, N modulo their number. `--record` keeps what is
 * proved, and the pages that the tests wrote. A few failed tests with real parts are tried once more, and named as flaky
 * if they pass then. The last lines are the tally of requirements and `N passed, N failed, N skipped`.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { keepProved, summary, tallyOfRun } from './spec/tally.ts'
import { failedOfBun, failedOfCargo, mostFlaky, worthAgain } from './support/again.ts'
import { type Counts, countsOfBun, countsOfCargo, plan } from './support/plan.ts'

const root = join(import.meta.dir, '..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { soak: { type: 'boolean' }, 'soak-group': { type: 'string' }, record: { type: 'boolean' } },
})
const filter = positionals[0]

// The folder that stays when a file runs in namespaces with a throw-away root.
const results = join(root, 'target', 'test-results')
rmSync(results, { recursive: true, force: true })
mkdirSync(results, { recursive: true })
const proofs = join(results, 'proofs.txt')
// Home is another folder where the root is thrown away.
const rust = { CARGO_HOME: join(homedir(), '.cargo'), RUSTUP_HOME: join(homedir(), '.rustup') }
const own = { BACKLOT_BIN: join(root, 'dist', 'backlot'), BACKLOT_PROOFS: proofs, FORCE_COLOR: '0' }
const env = { ...rust, ...process.env, ...own }

const total = { passed: 0, failed: 0, skipped: 0 }
const count = (found: Counts, sign: 1 | -1 = 1) => {
  for (const key of ['passed', 'failed', 'skipped'] as const) total[key] += sign * found[key]
}

/** What runs now: it does not outlive an interruption of this run. */
let running: Bun.Subprocess | undefined
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, async () => {
    running?.kill(signal)
    await running?.exited
    process.exit(status)
  })
}

/** How long each command took. */
const times: { label: string; seconds: number }[] = []

/** Runs a command, shows what it prints and answers its counts; a runner that fails without a failed test is a failure. */
async function run(label: string, command: readonly string[], counts: (output: string) => Counts, limitMinutes = 10) {
  console.log(`== ${label}`)
  const begun = performance.now()
  const child = Bun.spawn([...command], { cwd: root, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  running = child
  const watch = setTimeout(() => child.kill('SIGKILL'), limitMinutes * 60_000)
  let output = ''
  const forward = async (stream: ReadableStream<Uint8Array>, out: NodeJS.WriteStream) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      const text = decoder.decode(chunk, { stream: true })
      output += text
      out.write(text)
    }
  }
  await Promise.all([forward(child.stdout, process.stdout), forward(child.stderr, process.stderr), child.exited])
  clearTimeout(watch)
  times.push({ label, seconds: Math.round((performance.now() - begun) / 1000) })
  const found = counts(output)
  if (child.exitCode !== 0 && found.failed === 0 && !output.includes('matched 0 tests')) {
    found.failed = 1
    console.log(`${label} ended with ${child.signalCode ?? child.exitCode} and no failed test`)
  }
  return { found, output }
}

/** What is run again at the end if only few tests failed: their names, and how the second run replaces the first. */
const again: { names: readonly string[]; run: () => Promise<boolean> }[] = []

const group = values['soak-group'] === undefined ? undefined : Number(values['soak-group'])
const steps = plan({
  files: [...new Bun.Glob('{ts,tests}/**/*.test.ts').scanSync(root)].filter((file) => !file.includes('node_modules/')),
  crates: readdirSync(join(root, 'crates')),
  filter,
  soak: group ?? values.soak === true,
})

const apart = join(root, 'tests', 'support', 'apart')
const probe = steps.bun.some((step) => step.apart) ? Bun.spawnSync([apart, '--probe']) : undefined
const noNamespaces = probe?.exitCode ? probe.stderr.toString().trim() : undefined

if (steps.cargo) {
  const command = ['cargo', 'test', '--quiet', '--no-fail-fast', '--tests', ...steps.cargo]
  const { found, output } = await run('cargo test', command, countsOfCargo, 30)
  count(found)
  const { names, commands } = failedOfCargo(output)
  const passed = async () => {
    let second = 0
    for (const alone of commands) {
      const tried = await run(`again: ${names.join(', ')}`, alone, countsOfCargo)
      if (tried.found.failed > 0) return false
      second += tried.found.passed
    }
    if (second !== found.failed) return false
    count({ passed: found.failed, failed: -found.failed, skipped: 0 })
    return true
  }
  if (commands.length > 0) again.push({ names, run: passed })
}
for (const step of steps.bun) {
  const { label, files, name, apart: away, minutes } = step
  if (away && noNamespaces !== undefined) {
    console.log(`== ${label}\n(skip) all of it: ${noNamespaces}`)
    total.skipped += 1
    continue
  }
  const test = [
    process.execPath,
    'test',
    '--timeout',
    '60000',
    ...(name ? ['-t', name] : []),
    ...files.map((f) => `./${f}`),
  ]
  const command = away ? [apart, results, ...test] : test
  const { found, output } = await run(label, command, countsOfBun, minutes)
  count(found)
  if (found.failed === 0 || !worthAgain(step)) continue
  const passed = async () => {
    const { found: second } = await run(`again: ${label}`, command, countsOfBun, minutes)
    if (second.failed > 0 || second.passed === 0) return false
    count(found, -1)
    count(second)
    return true
  }
  const names = failedOfBun(output).map((failed) => `${label}: ${failed}`)
  again.push({ names: names.length > 0 ? names : [label], run: passed })
}

const flaky: string[] = []
if (total.failed <= mostFlaky) {
  for (const { names, run: passed } of again) if (await passed()) flaky.push(...names)
}

const tally = tallyOfRun(proofs, filter === undefined)
for (const error of tally.errors) console.log(error)
if (values.record && filter === undefined && total.failed === 0) keepProved(tally)
// Pages that tests write about what they saw: only a run without a failure saw all of it.
const pages = join(results, 'docs')
if (values.record && total.failed === 0 && existsSync(pages)) cpSync(pages, join(root, 'docs'), { recursive: true })
for (const name of flaky) console.log(`flaky: ${name} (failed, and passed when it was run again by itself)`)
const longest = times.toSorted((a, b) => b.seconds - a.seconds).slice(0, 5)
const whole = times.reduce((sum, { seconds }) => sum + seconds, 0)
console.log(`in ${whole} s; longest: ${longest.map(({ label, seconds }) => `${label} ${seconds} s`).join(', ')}`)
console.log(summary(tally))
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
if (total.failed > 0 || total.passed === 0 || (tally.errors.length > 0 && !values.record)) process.exit(1)
