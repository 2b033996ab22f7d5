/** What two builds measured in turn, row by row. */
import { type Spread, spreadOf } from '../driver/measure.ts'

/** A row of a printed table: what was measured, its unit, and its median. */
export interface Printed {
  readonly what: string
  readonly unit: string
  readonly median: number
}

/** The rows of the Markdown tables in what a bench printed, which begin with what was measured, its unit and its median. */
export const printedRows = (text: string): Printed[] =>
  text.split('\n').flatMap((line) => {
    const cells = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    const [what, unit, median] = cells
    if (what === undefined || unit === undefined || median === undefined || median === '') return []
    return Number.isFinite(Number(median)) ? [{ what, unit, median: Number(median) }] : []
  })

/** One row of the comparison: samples of each build are the medians of its runs. */
export interface Compared {
  readonly what: string
  readonly unit: string
  readonly older: Spread
  readonly newer: Spread
  /** `equal` where the newer median lies within the older samples. Where more is better the words stay: they tell of numbers. */
  readonly verdict: 'equal' | 'less' | 'more'
}

/** Compares row by row; `apart` are the rows that only one build, or not every run, has printed. */
export const compared = (
  older: readonly (readonly Printed[])[],
  newer: readonly (readonly Printed[])[],
): { readonly rows: Compared[]; readonly apart: string[] } => {
  const [before, after] = [samplesOf(older), samplesOf(newer)]
  const rows: Compared[] = []
  const apart: string[] = []
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(key) ?? [], after.get(key) ?? []]
    const [what = '', unit = ''] = key.split('\0')
    if (old.length !== older.length || now.length !== newer.length) {
      apart.push(`${what}: ${old.length} of ${older.length} older runs, ${now.length} of ${newer.length} newer ones`)
      continue
    }
    const [spread, mine] = [spreadOf(old), spreadOf(now)]
    const verdict = mine.median < spread.min ? 'less' : mine.median > spread.max ? 'more' : 'equal'
    rows.push({ what, unit, older: spread, newer: mine, verdict })
  }
  return { rows, apart }
}

const samplesOf = (runs: readonly (readonly Printed[])[]): Map<string, number[]> => {
  const samples = new Map<string, number[]>()
  for (const { what, unit, median } of runs.flat()) {
    const key = `${what}\0${unit}`
    samples.set(key, [...(samples.get(key) ?? []), median])
  }
  return samples
}
