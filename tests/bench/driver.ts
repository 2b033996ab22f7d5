/**
 * `./dev bench driver [PART…] [--keep] [--quick] [--compare]`: the driver against its floors, on the packed build and a private
 * desktop. Without a PART all are measured; with `--keep` the table is written to docs/benchmarks.md; with `--quick`
 * everything runs a few times only; with `--compare` another driver is installed from PyPI into a throw-away folder and
 * measured beside ours.
 */
import { join } from 'node:path'
import { driverCommand } from '../support/driver.ts'
import { answerRows } from './driver/answers.ts'
import { BenchDesktop, onDesktop } from './driver/bench-desktop.ts'
import { compareRows } from './driver/compare.ts'
import { clickRows, textRows } from './driver/input.ts'
import { duel, machine, type Row, summary, table } from './driver/measure.ts'
import { pictureRows } from './driver/picture.ts'
import { memoryRows, startRows } from './driver/start.ts'
import { stepsRows } from './driver/steps.ts'
import { elementClickRow, treeRows } from './driver/tree.ts'

const root = join(import.meta.dir, '../..')

const parts: Readonly<Record<string, (desktop: BenchDesktop) => Promise<Row | Row[]>>> = {
  trees: treeRows,
  pictures: pictureRows,
  elements: elementClickRow,
  clicks: clickRows,
  answers: answerRows,
  text: textRows,
  steps: stepsRows,
  start: startRows,
  memory: memoryRows,
}

const flags = process.argv.slice(2)
const named = flags.filter((flag) => !flag.startsWith('--'))
const unknown = named.find((name) => parts[name] === undefined)
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}"; there are: ${Object.keys(parts).join(', ')}`)
  process.exit(64)
}

await onDesktop(import.meta.path, async (on) => {
  using desktop = await BenchDesktop.open(on)
  const rows: Row[] = []
  for (const [name, measure] of Object.entries(parts)) {
    if (named.length > 0 && !named.includes(name)) continue
    console.error(`${name}:`)
    for (const row of [await measure(desktop)].flat()) {
      rows.push(row)
      console.error(`  ${summary(row)}`)
    }
    // A daemon that stayed would read what the next part starts.
    await on.run(driverCommand('stop'))
  }
  const compared = flags.includes('--compare') ? await compareRows(desktop) : []
  for (const row of compared) console.error(`  ${summary(row)}`)
  const other = compared.length === 0 ? '' : `\n## Beside another driver\n\n${duel(compared)}\n`
  const text = `${table(rows)}\n${other}\n${machine()}.\n`
  console.log(text)
  if (!flags.includes('--keep')) return
  const head = `# Benchmarks

What \`./dev bench driver\` printed last. A time says little without its floor: floor and figure were measured in turn, in
the same run, on the packed build.

`
  await Bun.write(join(root, 'docs/benchmarks.md'), head + text)
})
