import { expect, test } from 'bun:test'
import { takesClick } from './focus.ts'

test('a field is clicked to have the focus, but neither a table, whose cell there would be chosen, nor a switch', () => {
  expect(takesClick({ role: 'entry', editable: true })).toBe(true)
  expect(takesClick({ role: 'table cell', editable: true })).toBe(true)
  expect(takesClick({ role: 'table', editable: true })).toBe(false)
  expect(takesClick({ role: 'check box', editable: false })).toBe(false)
})
