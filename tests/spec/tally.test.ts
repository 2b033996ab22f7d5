import { expect, test } from 'bun:test'
import { summary, tally } from './tally.ts'

const list = [
  { id: 'a.one', text: 'One.' },
  { id: 'a.two', text: 'Two.', deferred: 'no such machine' },
  { id: 'a.three', text: 'Three.' },
  { id: 'a.four', text: 'Four.', decided: 'done otherwise (docs/decisions/0001)' },
]

test('what is neither proved nor decided nor deferred is open', () => {
  const result = tally(list, ['a.one', 'a.one'])
  expect(summary(result)).toBe('requirements: 1 proved, 1 decided, 1 deferred, 1 open of 4')
  expect(result.open.map(({ id }) => id)).toEqual(['a.three'])
  expect(result.decided.map(({ id }) => id)).toEqual(['a.four'])
  expect(result.errors).toEqual([])
})

test('unknown, doubled, reasonless and contradicting ids are errors', () => {
  const wrong = [
    ...list,
    { id: 'a.one', text: 'Again.' },
    { id: 'a.five', text: 'Five.', deferred: ' ' },
    { id: 'a.six', text: 'Six.', decided: '' },
    { id: 'a.seven', text: 'Seven.', decided: 'done otherwise', deferred: 'no such machine' },
  ]
  expect(tally(wrong, ['a.two', 'a.four', 'b.unknown']).errors).toEqual([
    'requirement "a.two" is deferred and proved: drop "deferred" from its row',
    'requirement "a.four" is decided and proved: drop "decided" from its row',
    'requirement "a.one" stands twice: rename one',
    'requirement "a.five" is deferred without a reason: give one',
    'requirement "a.six" is decided without a reason: give one',
    'requirement "a.seven" is decided and deferred: keep one of them',
    'a test proves "b.unknown", which is no requirement',
  ])
})

test('a requirement that was proved before has to stay proved', () => {
  expect(tally(list, ['a.one'], ['a.one', 'a.three']).errors).toEqual([
    'requirement "a.three" was proved before and is not now: mend it or its test',
  ])
})
