import { expect, test } from 'bun:test'
import { hasScrolled, type Places } from './places.ts'

const places = (rows: Readonly<Record<string, readonly [number, number]>>, bars = '[]'): Places => ({
  frames: new Map(Object.entries(rows).map(([token, [x, y]]) => [token, { x, y, w: 50, h: 20 }])),
  bars,
})

const before = places({ a: [10, 40], b: [10, 60], head: [10, 0] })

test('what goes against the direction was scrolled, also beside what stays and what came', () => {
  const after = places({ a: [10, 10], b: [10, 30], head: [10, 0], c: [10, 60] })
  expect(hasScrolled(before, after, 'down', false)).toBe(true)
  expect(hasScrolled(before, after, 'up', false)).toBe(null)
  expect(hasScrolled(before, before, 'down', true)).toBe(false)
})

test('what comes in a window that changes by itself is no scroll', () => {
  const after = places({ a: [10, 40], b: [10, 60], head: [10, 0], bar: [90, 0] })
  expect(hasScrolled(before, after, 'down', false)).toBe(null)
  expect(hasScrolled(before, after, 'down', true)).toBe('replaced')
  expect(hasScrolled(places({}, '["1"]'), places({}, '["2"]'), 'down', true)).toBe(true)
  expect(hasScrolled(places({}, '["1"]'), places({}, '["2"]'), 'down', false)).toBe(null)
})
