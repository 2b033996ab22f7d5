import { expect, test } from 'bun:test'
import { mask } from '../secrets/secrets.ts'
import { findTool } from '../tool/registry.ts'
import { clipboardWrite } from '../tools/clipboard.ts'
import { pressKey } from '../tools/keyboard.ts'
import { typeText } from '../tools/text.ts'
import { isPaste, isTyping, secretsIn, typedTexts, withoutTyped } from './typing.ts'

test('what is typed is masked, and nothing else', () => {
  expect(withoutTyped(typeText, { pid: 1, text: 'secret', delay_ms: 3 })).toEqual({
    args: { pid: 1, text: mask, delay_ms: 3 },
    names: ['text'],
  })
  expect(withoutTyped(pressKey, { pid: 1, key: 'x' })).toEqual({ args: { pid: 1, key: mask }, names: ['key'] })
  expect(typedTexts(typeText, { pid: 1, text: 'secret' })).toEqual(['secret'])
  expect(typedTexts(typeText, { pid: 1, text: '7' })).toEqual(['7'])
  expect(typedTexts(typeText, { pid: 1, text: 'space' })).toEqual(['space'])
  expect(typedTexts(typeText, { pid: 1, text: 123456 })).toEqual(['123456'])
  for (const key of ['x', 'space', 'return', 'delete']) expect(typedTexts(pressKey, { pid: 1, key })).toEqual([])
  expect(['a', '世', 'space', 'return', 'f1'].map(isTyping)).toEqual([true, true, true, false, false])
})

test('a secret is known from the arguments, also of a call within a call', () => {
  expect(secretsIn(clipboardWrite, { text: 'a token', secret: true }, findTool)).toEqual(['a token'])
  expect(secretsIn(clipboardWrite, { text: 'a token' }, findTool)).toEqual([])
  const steps = [
    { tool: 'type_text', arguments: { text: 'open' } },
    { tool: 'type_text', arguments: { text: 'hidden', secret: true } },
    { tool: 'no_tool', arguments: { text: 'hidden', secret: true } },
  ]
  const runSteps = findTool('run_steps')
  if (runSteps === undefined) throw new Error('no run_steps')
  expect(secretsIn(runSteps, { steps }, findTool)).toEqual(['hidden'])
  for (const wrong of [undefined, null, 'text', { steps: [null] }, { steps: 7 }])
    expect(secretsIn(runSteps, wrong, findTool)).toEqual([])
})

test('keys that paste are told from others', () => {
  expect(isPaste('v', ['ctrl'])).toBe(true)
  expect(isPaste('V', ['Control', 'shift'])).toBe(true)
  expect(isPaste('insert', ['shift'])).toBe(true)
  expect(isPaste('v', ['alt'])).toBe(false)
  expect(isPaste('insert', ['ctrl', 'shift'])).toBe(false)
  expect(isPaste('c', ['ctrl'])).toBe(false)
})
