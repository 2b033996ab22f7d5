import { expect, test } from 'bun:test'
import { Stillness } from './stillness.ts'

test('a window whose pixels are not those it was left with moves by itself', () => {
  const stillness = new Stillness()
  expect(stillness.isStill(7, 'a')).toBe(true)
  stillness.leave(7, 'a')
  expect(stillness.isStill(7, 'a')).toBe(true)
  expect(stillness.isStill(7, 'b')).toBe(false)
  stillness.leave(7, 'b')
  expect(stillness.isStill(7, 'b')).toBe(true)
  expect(stillness.isStill(8, 'a')).toBe(true)
})

test('what could not be looked at says nothing', () => {
  const stillness = new Stillness()
  stillness.leave(7, 'a')
  stillness.leave(7, undefined)
  expect(stillness.isStill(7, 'b')).toBe(true)
})
