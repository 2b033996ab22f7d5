/**
 * `./dev bench NAME --against COMMIT [--rounds N] [ARGUMENT…]`: builds another commit beside this checkout and runs the bench of
 * this checkout on both in turn, N times (3), so that the load of the machine falls on both alike. Differences within the
 * older one's own spread count as equal.
 *
 * The other commit lies in `target/against/COMMIT`, with the tests and benches of this checkout laid over it: both are
 * measured by the same programs. Where those do not run on the older product, it ends with what they printed.
 */
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { figure, machine, markdown } from '../driver/measure.ts'
import { compared, type Printed, printedRows } from './compare.ts'

const root = join(import.meta.dir, '../../..')

const stop: (text: string) => never = (text) => {
  console.error(text)
  process.exit(64)
}

const [name = '', commit = '', ...more] = process.argv.slice(2)
const at = more.indexOf('--rounds')
const rounds = at === -1 ? 3 : Number(more[at + 1])
if (!Number.isInteger(rounds) || rounds < 1) stop(`--rounds takes a number of at least 1, not "${more[at + 1] ?? ''}"`)
const flags = at === -1 ? more : more.toSpliced(at, 2)

const git = (...words: string[]): string => {
  const { success, stdout, stderr } = Bun.spawnSync(['git', ...words], { cwd: root })
  if (!success) stop(`git ${words.join(' ')}: ${stderr.toString().trim()}`)
  return stdout.toString().trim()
}

/** The other commit's files in a folder of its own, built; a folder that was not finished is made anew. */
const built = async (sha: string): Promise<string> => {
  const folder = join(root, 'target', 'against', sha)
  if (!existsSync(folder)) {
    const partial = `${folder}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { recursive: true })
    await run(root, ['sh', '-c', 'git archive "$1" | tar -x -C "$2"', 'sh', sha, partial])
    renameSync(partial, folder)
  }
  rmSync(join(folder, 'tests'), { recursive: true, force: true })
  cpSync(join(root, 'tests'), join(folder, 'tests'), { recursive: true })
  console.error(`building ${sha.slice(0, 7)} in target/against`)
  await run(folder, ['./dev', 'build', '--release'])
  return folder
}

const run = async (folder: string, command: string[], env: Record<string, string> = {}): Promise<string> => {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const [text, status] = await Promise.all([child.stdout.text(), child.exited])
  if (status === 0) return text
  console.error(text)
  console.error(`${command.join(' ')} ended with ${child.signalCode ?? status} in ${folder}`)
  process.exit(1)
}

const bench = async (folder: string): Promise<Printed[]> => {
  const command = [process.execPath, join(folder, 'tests/bench', `${name}.ts`), ...flags]
  return printedRows(await run(folder, command, { BACKLOT_BIN: join(folder, 'dist/backlot') }))
}

const sha = git('rev-parse', '--verify', '--end-of-options', `${commit}^{commit}`)
const older = await built(sha)
const samples: { older: Printed[][]; newer: Printed[][] } = { older: [], newer: [] }
for (let round = 1; round <= rounds; round++) {
  // Who goes first takes turns, too.
  for (const which of round % 2 === 1 ? (['older', 'newer'] as const) : (['newer', 'older'] as const)) {
    console.error(`round ${round} of ${rounds}, ${which === 'older' ? sha.slice(0, 7) : 'this checkout'}:`)
    samples[which].push(await bench(which === 'older' ? older : root))
  }
}

const { rows, apart } = compared(samples.older, samples.newer)
if (rows.length === 0) stop(`the bench "${name}" printed no row that both have`)
const spread = ({ min, max }: { min: number; max: number }): string => `${figure(min)} to ${figure(max)}`
console.log(
  markdown([
    ['what', 'unit', `${sha.slice(0, 7)}, median`, 'of runs from', 'now, median', 'of runs from', 'ratio', 'now'],
    ['---', '---', '---:', '---', '---:', '---', '---:', '---'],
    ...rows.map((row) => [
      row.what,
      row.unit,
      figure(row.older.median),
      spread(row.older),
      figure(row.newer.median),
      spread(row.newer),
      figure(row.newer.median / row.older.median),
      row.verdict,
    ]),
  ]),
)
for (const text of apart) console.log(`not compared: ${text}`)
console.log(`\n${rounds} runs of each in turn; ${machine()}.`)
