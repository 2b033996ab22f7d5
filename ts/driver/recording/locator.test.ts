import { expect, test } from 'bun:test'
import { locate, locatorOf } from './locator.ts'

const tree = (title: string, ...lines: string[]) =>
  [
    `- frame = "${title}"`,
    '  - menu bar = "Menus"',
    '    - [element_index 0] menu "File" [actions=[click]]',
    '      - [element_index 1] menu item "Save" [actions=[click]]',
    '  - [element_index 2] text value="A \\"quoted\\" text" [actions=[activate]]',
    ...lines,
    '',
  ].join('\n')

const buttons = [
  '  - panel = "Left"',
  '    - [element_index 3] push button "OK" [actions=[click]]',
  '  - panel = "Right"',
  '    - [element_index 4] push button "OK" [actions=[click]]',
]

test('a locator is the role, the name and what stands around', () => {
  expect(locatorOf(tree('Untitled'), 1)).toEqual({
    role: 'menu item',
    name: 'Save',
    path: [
      { role: 'frame', name: 'Untitled' },
      { role: 'menu bar', name: 'Menus' },
      { role: 'menu', name: 'File' },
    ],
    nth: 0,
  })
  expect(locatorOf(tree('Untitled'), 2)).toMatchObject({ role: 'text', name: '', path: [{ role: 'frame' }] })
  expect(locatorOf(tree('Untitled'), 7)).toBeUndefined()
})

/** Where an element of one tree is found in another. */
const found = (from: string, index: number, to: string) => {
  const locator = locatorOf(from, index)
  return locator && locate(to, locator)
}

test('the same place is certain, another title of the window nearly so', () => {
  expect(found(tree('a'), 1, tree('a'))).toEqual({
    element_index: 1,
    how: 'exact',
    confidence: 1,
    role: 'menu item',
    name: 'Save',
  })
  expect(found(tree('a'), 2, tree('b'))).toMatchObject({ element_index: 2, how: 'path differs', confidence: 1 })
})

test('of several the one in the same place is meant', () => {
  const shifted = tree('a', '  - [element_index 9] push button "OK"', ...buttons)
  expect(found(tree('a', ...buttons), 4, shifted)).toMatchObject({ element_index: 4, how: 'exact' })
  expect(found(tree('a', ...buttons), 3, shifted)).toMatchObject({ element_index: 3, how: 'exact' })
})

test('of several that nothing tells apart the order decides, and it is said', () => {
  const twins = tree('a', '  - [element_index 3] push button "OK"', '  - [element_index 4] push button "OK"')
  expect(locatorOf(twins, 4)).toMatchObject({ nth: 1 })
  expect(found(twins, 4, twins)).toMatchObject({ element_index: 4 })
  expect(found(tree('a', '  - [element_index 3] push button "OK"'), 3, twins)).toMatchObject({
    element_index: 3,
    how: 'one of several',
    confidence: 0.5,
  })
})

test('a name that has words in common is less sure, and nothing is made up', () => {
  const one = tree('a', '  - [element_index 3] push button "Save document"')
  const other = tree(
    'a',
    '  - [element_index 5] push button "Save the document"',
    '  - [element_index 6] push button "Quit"',
  )
  const near = found(one, 3, other)
  expect(near).toMatchObject({ element_index: 5, how: 'name differs' })
  expect(near?.confidence).toBeLessThan(0.6)
  expect(found(one, 3, tree('a', '  - [element_index 6] push button "Quit"'))).toBeUndefined()
  expect(found(one, 3, tree('a'))).toBeUndefined()
})
