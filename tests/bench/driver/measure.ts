/** Times and sizes, each beside a floor that was measured in the same run. */
import { cpus, loadavg, release, totalmem } from 'node:os'

/** Middle, least and greatest of what was measured. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** One line of the table. */
export interface Row {
  readonly what: string
  readonly unit:
    | 'ms'
    | 'MB'
    | 'KB'
    | 'calls'
    | 'elements'
    | '% of a core'
    | 'KB a second'
    | 'a second'
    | 'levels'
    | 'dB'
  readonly measured: Spread
  /** What it is held against, and how that is called. */
  readonly floor?: { readonly name: string; readonly spread: Spread }
  /** The aim, and what of the row it is about. */
  readonly aim?: { readonly of: 'ratio' | 'median' | 'difference'; readonly atMost: number }
}

/** The spread of samples. */
export const spreadOf = (samples: readonly number[]): Spread => {
  const sorted = samples.toSorted((a, b) => Number(a > b) - Number(a < b))
  const at = (index: number): number => sorted[index] ?? Number.NaN
  return { median: at(Math.floor(sorted.length / 2)), min: at(0), max: at(sorted.length - 1) }
}

/** A spread of one known value. */
export const exactly = (value: number): Spread => ({ median: value, min: value, max: value })

/** Milliseconds that `work` takes. */
export const milliseconds = async (work: () => unknown): Promise<number> => {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** With `--quick` everything is measured a few times only: to see that it runs. */
const mostRounds = process.argv.includes('--quick') ? 3 : Number.POSITIVE_INFINITY

/**
 * Runs several things in turn, `rounds` times, so that the load of the machine falls on all of them alike; what each
 * gives is a sample, and the first round, which warms up, is none.
 */
export const sideBySide = async <Name extends string>(
  rounds: number,
  things: Record<Name, () => Promise<number>>,
): Promise<Record<Name, Spread>> => {
  const entries = Object.entries(things) as [Name, () => Promise<number>][]
  const samples = new Map<Name, number[]>(entries.map(([name]) => [name, []]))
  for (let round = 0; round <= Math.min(rounds, mostRounds); round++) {
    for (const [name, thing] of entries) {
      const sample = await thing()
      if (round > 0) samples.get(name)?.push(sample)
    }
  }
  return Object.fromEntries([...samples].map(([name, list]) => [name, spreadOf(list)])) as Record<Name, Spread>
}

/** A number as the tables show it. What never came took for ever. */
export const figure = (value: number): string =>
  value === Number.POSITIVE_INFINITY
    ? 'never came'
    : Number.isInteger(value)
      ? String(value)
      : value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0)

/** How far the row is from its aim. */
const verdict = ({ measured, floor, aim, unit }: Row): string => {
  if (aim === undefined) return ''
  const base = floor?.spread.median ?? 0
  const value = { ratio: measured.median / base, median: measured.median, difference: measured.median - base }[aim.of]
  const wanted = `${{ ratio: '×', median: '', difference: '+' }[aim.of]}${aim.atMost}${aim.of === 'ratio' ? '' : ` ${unit}`}`
  if (value <= aim.atMost) return `≤ ${wanted}: met`
  return `≤ ${wanted}: missed, ${figure(value)} is ${figure(value / aim.atMost)} times the aim`
}

/** The row in one line. */
export const summary = (row: Row): string => {
  const floor = row.floor === undefined ? '' : ` (${row.floor.name}: ${figure(row.floor.spread.median)})`
  return `${row.what}: ${figure(row.measured.median)} ${row.unit}${floor} ${verdict(row)}`.trimEnd()
}

/** The rows as a Markdown table. */
export const table = (rows: readonly Row[]): string => {
  const cells = rows.map((row) => {
    const { what, unit, measured, floor } = row
    return [
      what,
      unit,
      figure(measured.median),
      figure(measured.min),
      figure(measured.max),
      floor === undefined ? '' : `${floor.name}: ${figure(floor.spread.median)}`,
      floor === undefined ? '' : figure(measured.median / floor.spread.median),
      verdict(row),
    ]
  })
  const head = ['what', 'unit', 'median', 'min', 'max', 'floor, median', 'ratio', 'aim']
  return markdown([head, ['---', '---', '---:', '---:', '---:', '---', '---:', '---'], ...cells])
}

/** Rows whose floor is another driver, as a Markdown table. */
export const duel = (rows: readonly Row[]): string => {
  const other = rows[0]?.floor?.name ?? ''
  const cells = rows.map(({ what, unit, measured, floor }) => {
    const theirs = floor?.spread.median ?? Number.NaN
    const ratio = Number.isFinite(theirs) ? figure(measured.median / theirs) : ''
    return [what, unit, figure(measured.median), figure(theirs), ratio]
  })
  const head = ['what', 'unit', 'backlot, median', `${other}, median`, 'ratio']
  return markdown([head, ['---', '---', '---:', '---:', '---:'], ...cells])
}

/** Lines of cells as a Markdown table. */
export const markdown = (lines: readonly (readonly string[])[]): string =>
  lines.map((line) => `| ${line.join(' | ')} |`).join('\n')

/** The machine in one line, and how busy it was. */
export const machine = (): string => {
  const [cpu] = cpus()
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Bun ${Bun.version}, load average at the end ${loadavg()[1]?.toFixed(1)}`
}
