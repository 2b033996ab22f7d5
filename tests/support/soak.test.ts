import { expect, test } from 'bun:test'
import { scaleOf } from './soak.ts'

test('the factor of the soak groups is 1 unless the environment says otherwise', () => {
  expect(scaleOf({})).toBe(1)
  expect(scaleOf({ BACKLOT_SOAK_SCALE: '' })).toBe(1)
  expect(scaleOf({ BACKLOT_SOAK_SCALE: '0.1' })).toBe(0.1)
  expect(scaleOf({ BACKLOT_SOAK_SCALE: '1000' })).toBe(1000)
})

test.each(['0', '-1', '1001', 'many', 'Infinity', 'NaN'])('a factor of %p is refused', (text) => {
  expect(() => scaleOf({ BACKLOT_SOAK_SCALE: text })).toThrow(
    `BACKLOT_SOAK_SCALE is "${text}"; give a number above 0 and up to 1000`,
  )
})
