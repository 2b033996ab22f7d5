import { expect, test } from 'bun:test'
import { type TemplateState, tooMany } from './limit.ts'

const limit = { most: 3, bytes: 100 } as const

const used = (...bytes: readonly number[]): TemplateState[] =>
  bytes.map((each, index) => ({ usedAtMs: index, bytes: each }))

/** How the ones that go are numbered, from the one that was not used for longest. */
const gone = (templates: readonly TemplateState[]): number[] =>
  tooMany(templates, limit).map(({ usedAtMs }) => usedAtMs)

test('what was not used for longest goes where there are too many, or they take too much', () => {
  expect(gone(used(10, 10, 10))).toEqual([])
  expect(gone(used(10, 10, 10, 10, 10))).toEqual([0, 1])
  expect(gone(used(10, 40, 60))).toEqual([0])
  expect(gone([...used(10, 60, 60)].reverse())).toEqual([0, 1])
})

test('what was used last stays, however much it takes', () => {
  expect(gone(used(500))).toEqual([])
  expect(gone(used(10, 500))).toEqual([0])
})
