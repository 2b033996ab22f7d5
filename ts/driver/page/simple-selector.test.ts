import { expect, test } from 'bun:test'
import { fits, readSelector } from './simple-selector.ts'

const button = { id: 'press', class: 'big round', type: 'button' }
const matches = (selector: string, attributes: Record<string, string> = button) => {
  const read = readSelector(selector)
  return read && fits(read, 'button', attributes)
}

test.each([
  'button',
  '*',
  '#press',
  '.big',
  'BUTTON#press.big.round',
  '[type]',
  '[type=button]',
  '[type="button"]',
  'a, #press',
])('%s fits', (selector) => expect(matches(selector)).toBe(true))

test.each(['a', '#other', '.bi', '[href]', '[type=submit]', 'a, .other'])('%s does not fit', (selector) =>
  expect(matches(selector)).toBe(false),
)

test.each(['div button', 'div > button', 'button:hover', 'a + b', '', 'a,', '[type^=b]', '#'])(
  '%p needs the page itself',
  (selector) => expect(matches(selector)).toBeUndefined(),
)

test('what an object is born with is no attribute', () => expect(matches('[constructor]', {})).toBe(false))
