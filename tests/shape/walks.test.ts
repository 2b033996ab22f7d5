import { expect, test } from 'bun:test'
import { files, read } from './sources.ts'

const [, section = ''] = read('docs/architecture.md').split('\n## Three walks\n')
const walks = (section.split('\n## ')[0] ?? '')
  .split('\n**')
  .slice(1)
  .map((walk) => [...walk.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file = '']) => file))

test('each walk through the code names files that there are, and none twice', () => {
  expect(walks.map((walk) => walk.length > 5)).toEqual([true, true, true])
  expect(walks.flat().filter((file) => !files.includes(file))).toEqual([])
  expect(walks.filter((walk) => new Set(walk).size !== walk.length)).toEqual([])
})
