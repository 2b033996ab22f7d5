import { expect, test } from 'bun:test'
import { summary, tally } from './tally.ts'

const list = [
  { id: 'a.one', text: 'One.' },
  { id: 'a.two', text: 'Two.', deferred: 'no such machine' },
  { id: 'a.three', text: 'Three.' },
]

test('what is neither proved nor deferred is open', () => {
  const result = tally(list, ['a.one', 'a.one'])
  expect(summary(result)).toBe('requirements: 1 proved, 1 deferred, 1 open of 3')
  expect(result.open.map(({ id }) => id)).toEqual(['a.three'])
  expect(result.errors).toEqual([])
})

test('unknown, doubled, reasonless and contradicting ids are errors', () => {
  const wrong = [...list, { id: 'a.one', text: 'Again.' }, { id: 'a.four', text: 'Four.', deferred: ' ' }]
  expect(tally(wrong, ['a.two', 'b.unknown']).errors).toEqual([
    'requirement "a.two" is deferred and proved: drop its deferral',
    'requirement "a.one" stands twice: rename one',
    'requirement "a.four" is deferred without a reason: give one',
    'a test proves "b.unknown", which is no requirement',
  ])
})

test('a requirement that was proved before has to stay proved', () => {
  expect(tally(list, ['a.one'], ['a.one', 'a.three']).errors).toEqual([
    'requirement "a.three" was proved before and is not now: mend it or its test',
  ])
})
