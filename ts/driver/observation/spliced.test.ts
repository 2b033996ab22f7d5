import { expect, test } from 'bun:test'
import { isSpliced } from './spliced.ts'

test('an insertion is one wherever it stands, and where it replaces a selection', () => {
  for (const [before, after, text] of [
    ['', 'Grüße 😀', 'Grüße 😀'],
    ['ab', 'axb', 'x'],
    ['aa', 'aaa', 'a'],
    ['hello world', 'hello WORLD', 'WORLD'],
    ['all of it', 'new', 'new'],
    ['one\n', 'one\ntwo\n', 'two\n'],
  ] as const) {
    expect([before, after, isSpliced(before, after, text)]).toEqual([before, after, true])
  }
})

test('what arrived twice, in part, changed or beside other changes is none', () => {
  for (const [before, after, text] of [
    ['', 'xx', 'x'],
    ['', 'worl', 'world'],
    ['', 'world1', 'WORLD!'],
    ['ab', 'axc', 'x'],
    ['ab', 'abXab', 'X'],
    ['same', 'same', 'same'],
  ] as const) {
    expect([before, after, isSpliced(before, after, text)]).toEqual([before, after, false])
  }
})
