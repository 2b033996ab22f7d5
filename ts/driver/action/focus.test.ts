import { expect, test } from 'bun:test'
import { takesFocusByClick } from './focus.ts'

test('a field is clicked to have the focus, but neither a table, whose cell there would be chosen, nor a switch', () => {
  expect(takesFocusByClick({ role: 'entry', editable: true })).toBe(true)
  expect(takesFocusByClick({ role: 'table cell', editable: true })).toBe(true)
  expect(takesFocusByClick({ role: 'table', editable: true })).toBe(false)
  expect(takesFocusByClick({ role: 'check box', editable: false })).toBe(false)
})
