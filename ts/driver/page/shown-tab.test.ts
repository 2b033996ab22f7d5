import { expect, test } from 'bun:test'
import { shownTabs } from './shown-tab.ts'
import type { Tab } from './web-page.ts'

const bounds = { x: 60, y: 40, width: 900, height: 700 }
const elsewhere = { x: 900, y: 40, width: 900, height: 700 }
const tab = (id: string, title: string, at: Tab['bounds'] = bounds, window = '1'): Tab => ({
  id,
  title,
  url: '',
  window,
  bounds: at,
})
const ids = async (title: string, tabs: Tab[], shown: Record<string, boolean> = {}) =>
  (await shownTabs({ title, bounds }, tabs, async ({ id }) => shown[id])).map(({ id }) => id)

test('the page whose title the window bears', async () => {
  const tabs = [tab('a', 'One'), tab('b', 'Two')]
  expect(await ids('Two - Chromium', tabs)).toEqual(['b'])
  expect(await ids('Two — Mozilla Firefox', tabs)).toEqual(['b'])
  expect(await ids('Two', tabs)).toEqual(['b'])
})

test('of the same titles the one whose window is there', async () => {
  expect(await ids('One - Chromium', [tab('a', 'One', elsewhere), tab('b', 'One')])).toEqual(['b'])
})

test('of the same titles in one window the one that is shown', async () => {
  expect(await ids('One - Chromium', [tab('a', 'One'), tab('b', 'One')], { a: false, b: true })).toEqual(['b'])
})

test('several that cannot be told apart', async () => {
  expect(await ids('One', [tab('a', 'One'), tab('b', 'One')])).toEqual(['a', 'b'])
})

test('windows one upon the other cannot be told apart by what is shown', async () => {
  expect(await ids('One', [tab('a', 'One'), tab('b', 'One', bounds, '2')], { a: true, b: false })).toEqual(['a', 'b'])
})

test('a title that fits none leaves place and what is shown', async () => {
  const tabs = [tab('a', 'Old'), tab('b', 'Older'), tab('c', 'Older', elsewhere)]
  expect(await ids('New - Chromium', tabs, { a: true, b: false })).toEqual(['a'])
})
