/** Records as a table for people. */
import { isatty } from 'node:tty'

/** Whether standard output is a terminal: then it gets tables, else JSON. */
export const isTerminal = (): boolean => isatty(1)

const plain = (value: unknown): string =>
  value === null || value === undefined ? '-' : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** A head of the fields' names, then a line for each record; columns that no record fills are left out. */
export const table = (records: readonly Readonly<Record<string, unknown>>[]): string => {
  const fields = [...new Set(records.flatMap((record) => Object.keys(record)))].filter((field) =>
    records.some((record) => plain(record[field]) !== '-'),
  )
  const rows = [
    fields.map((field) => field.toUpperCase()),
    ...records.map((record) => fields.map((field) => plain(record[field]))),
  ]
  const widths = fields.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
