import { expect, test } from 'bun:test'
import { Pressure } from './pressure.ts'

test('what runs is averaged over the last looks', () => {
  let now = 0
  using pressure = new Pressure(() => now)
  expect(pressure.average).toBe(0)
  now = 8
  for (let looks = 0; looks < 40; looks += 1) pressure.look()
  expect(pressure.average).toBe(8)
  now = 2
  for (let looks = 0; looks < 5; looks += 1) pressure.look()
  expect(pressure.average).toBe(5)
})

test('the machine says what runs, this test at least', () => {
  using pressure = new Pressure()
  pressure.look()
  expect(pressure.average).toBeGreaterThanOrEqual(1)
})
