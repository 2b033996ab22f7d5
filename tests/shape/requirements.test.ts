import { expect, test } from 'bun:test'
import { requirements } from '../spec/index.ts'
import { tally } from '../spec/tally.ts'
import { files, read } from './sources.ts'

test('every requirement has an id of its own, and what is decided or deferred a reason', () => {
  expect(tally(requirements, []).errors).toEqual([])
})

test('ids name their specification and are kebab-case', () => {
  const wrong = requirements.filter(({ id }) => !/^(vmhost|driver|sandbox)(\.[a-z0-9]+(-[a-z0-9]+)*)+$/.test(id))
  expect(wrong).toEqual([])
})

test('what is kept as proved is a requirement', () => {
  const kept = files.includes('tests/spec/proved.txt') ? read('tests/spec/proved.txt').split('\n').filter(Boolean) : []
  const known = new Set(requirements.map(({ id }) => id))
  expect(kept.filter((id) => !known.has(id))).toEqual([])
})
