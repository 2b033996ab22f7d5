import { expect, test } from 'bun:test'
import { pressKey } from '../tools/keyboard.ts'
import { typeText } from '../tools/text.ts'
import { isTyping, mask, typedTexts, without, withoutTyped } from './secrets.ts'

test('no text of a value holds a secret', () => {
  const secrets = new Set(['correct horse', 'abc'])
  expect(without(secrets, { a: ['x correct horse y', 7, null], b: { c: 'correct horse' }, d: undefined })).toEqual({
    a: [`x ${mask} y`, 7, null],
    b: { c: mask },
    d: null,
  })
  expect(without(secrets, ['abc', 'abcd', 'entry "abc" here'])).toEqual([mask, 'abcd', `entry "${mask}" here`])
})

test('what is typed is masked, and nothing else', () => {
  expect(withoutTyped(typeText, { pid: 1, text: 'secret', delay_ms: 3 })).toEqual({
    args: { pid: 1, text: mask, delay_ms: 3 },
    names: ['text'],
  })
  expect(withoutTyped(pressKey, { pid: 1, key: 'x' })).toEqual({ args: { pid: 1, key: mask }, names: ['key'] })
  expect(typedTexts(typeText, { pid: 1, text: 'secret' })).toEqual(['secret'])
  expect(['a', '世', 'space', 'return', 'f1'].map(isTyping)).toEqual([true, true, true, false, false])
})
