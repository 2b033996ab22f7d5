/**
 * `./dev bench forks [PART…] [--quick]`: VMs forked while they run, made of a template, taken from a pool, suspended and resumed, worked
 * in and used as sandboxes, on the packed build, each beside what it is held against in the same run. Without a PART all but those of the
 * desktop are measured, whose image takes minutes to build.
 */
import { accelerationHere } from '../support/acceleration.ts'
import { machine, type Row, summary, table } from './driver/measure.ts'
import { execRows } from './forks/exec.ts'
import { desktopForkRows, forkRows } from './forks/fork.ts'
import { sandboxRows } from './forks/sandbox.ts'
import { savedRows } from './forks/saved.ts'

const parts: Readonly<Record<string, { measure: () => Promise<Row[]>; isLong?: true }>> = {
  fork: { measure: forkRows },
  saved: { measure: savedRows },
  exec: { measure: execRows },
  desktop: { measure: desktopForkRows, isLong: true },
  sandbox: { measure: sandboxRows, isLong: true },
}

const named = process.argv.slice(2).filter((flag) => !flag.startsWith('--'))
const unknown = named.find((name) => parts[name] === undefined)
if (unknown !== undefined) {
  console.error(`there is no part "${unknown}"; there are: ${Object.keys(parts).join(', ')}`)
  process.exit(64)
}

const rows: Row[] = []
for (const [name, { measure, isLong }] of Object.entries(parts)) {
  if (named.length > 0 ? !named.includes(name) : isLong) continue
  console.error(`${name}:`)
  for (const row of await measure()) {
    rows.push(row)
    console.error(`  ${summary(row)}`)
  }
}
const { refusal } = await accelerationHere()
const withoutKvm = refusal === null ? '' : ` No row is with KVM: ${refusal}`
console.log(`${table(rows)}\n\n${machine()}.${withoutKvm}`)
