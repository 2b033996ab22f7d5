/**
 * `./dev bench computer [PART…] [--quick]`: the computer server against its floors, on the packed build. Without a PART all
 * are measured; with `--quick` everything runs a few times only.
 */
import { commandRows, pictureRows } from './computer/commands.ts'
import { filmRows } from './computer/film.ts'
import { costRows, fileRows } from './computer/server.ts'
import { type ComputerSetup, openSetup } from './computer/setup.ts'
import { viewerRows } from './computer/viewers.ts'
import { machine, type Row, summary, table } from './driver/measure.ts'

const parts: Readonly<Record<string, (setup: ComputerSetup) => Promise<Row[]>>> = {
  pictures: pictureRows,
  commands: commandRows,
  files: fileRows,
  costs: costRows,
  film: filmRows,
  viewers: viewerRows,
}

const named = process.argv.slice(2).filter((flag) => !flag.startsWith('--'))
const unknown = named.find((name) => parts[name] === undefined)
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}"; there are: ${Object.keys(parts).join(', ')}`)
  process.exit(64)
}

await using setup = await openSetup()
const rows: Row[] = []
for (const [name, measure] of Object.entries(parts)) {
  if (named.length > 0 && !named.includes(name)) continue
  console.error(`${name}:`)
  for (const row of await measure(setup)) {
    rows.push(row)
    console.error(`  ${summary(row)}`)
  }
}
console.log(`${table(rows)}\n\n${machine()}.`)
