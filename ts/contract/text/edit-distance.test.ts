import { expect, test } from 'bun:test'
import { editDistance } from './edit-distance.ts'

test('each character that is put in, left out or replaced counts once', () => {
  const pairs = [
    ['', ''],
    ['', 'abc'],
    ['abc', ''],
    ['click', 'clik'],
    ['click', 'clock'],
    ['kitten', 'sitting'],
    ['ab', 'ba'],
  ] as const
  expect(pairs.map(([from, to]) => editDistance(from, to))).toEqual([0, 3, 3, 1, 1, 3, 2])
})
