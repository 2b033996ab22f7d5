import { expect, test } from 'bun:test'
import { table } from './table.ts'

test('columns are as wide as their longest cell, and those that nobody fills are left out', () => {
  const records = [
    { name: 'a', size: 10, note: null },
    { name: 'longer', size: 2, note: null },
  ]
  expect(table(records)).toBe('NAME    SIZE\na       10\nlonger  2')
})
