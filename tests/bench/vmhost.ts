/**
 * `./dev bench vmhost [PART…] [--quick]`: the VM host and its disks against their floors, on the packed build. Without a PART
 * all are measured; with `--quick` everything runs a few times only.
 */
import { machine, type Row, summary, table } from './driver/measure.ts'
import { bootRows, desktopRows } from './vmhost/boot.ts'
import { cloneRows, overlayRows } from './vmhost/disks.ts'
import { serviceRows } from './vmhost/service.ts'

const parts: Readonly<Record<string, () => Promise<Row[]>>> = {
  overlay: overlayRows,
  clone: cloneRows,
  service: serviceRows,
  boot: bootRows,
  desktop: desktopRows,
}

const named = process.argv.slice(2).filter((flag) => !flag.startsWith('--'))
const unknown = named.find((name) => parts[name] === undefined)
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}"; there are: ${Object.keys(parts).join(', ')}`)
  process.exit(64)
}

const rows: Row[] = []
for (const [name, measure] of Object.entries(parts)) {
  if (named.length > 0 && !named.includes(name)) continue
  console.error(`${name}:`)
  for (const row of await measure()) {
    rows.push(row)
    console.error(`  ${summary(row)}`)
  }
}
console.log(`${table(rows)}\n\n${machine()}.`)
