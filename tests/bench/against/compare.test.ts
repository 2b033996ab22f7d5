import { expect, test } from 'bun:test'
import { type Row, spreadOf, table } from '../driver/measure.ts'
import { compared, printedRows } from './compare.ts'

const run = (click: number, film?: number): string => {
  const rows: Row[] = [{ what: 'a click', unit: 'ms', measured: spreadOf([click]) }]
  if (film !== undefined) rows.push({ what: 'a film', unit: 'KB', measured: spreadOf([film]) })
  return `click: ${click}\n\n${table(rows)}\n\n2 processors.`
}

test('the rows of a printed table are read again', () => {
  expect(printedRows(run(1.25, 300))).toEqual([
    { what: 'a click', unit: 'ms', median: 1.25 },
    { what: 'a film', unit: 'KB', median: 300 },
  ])
})

test('a median within the older samples is equal, beyond them less or more', () => {
  const older = [1, 2, 3].map((click) => printedRows(run(click)))
  const verdictOf = (click: number) => compared(older, [printedRows(run(click))]).rows[0]?.verdict
  expect([0.9, 1, 3, 3.1].map(verdictOf)).toEqual(['less', 'equal', 'equal', 'more'])
})

test('a row that one build or one run has not is told apart', () => {
  const { rows, apart } = compared([printedRows(run(1)), printedRows(run(1, 5))], [printedRows(run(1, 5))])
  expect(rows.map(({ what }) => what)).toEqual(['a click'])
  expect(apart).toEqual(['a film: 1 of 2 older runs, 1 of 1 newer ones'])
})
