import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Listing } from './listing.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backlot-listing-'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const counted = () => {
  const listing = new Listing()
  let made = 0
  const make = async () => {
    made += 1
    return []
  }
  return {
    look: (changes: number, path = folder) => listing.get([{ name: 'a', path }], changes, false, make),
    made: () => made,
  }
}

test('a list is made once as long as nothing happens', async () => {
  const { look, made } = counted()
  const first = await look(1)
  expect(await look(1)).toBe(first)
  expect(made()).toBe(1)
})

test('it is made again after every change, in the service and in the folder', async () => {
  const { look, made } = counted()
  await look(1)
  await look(2)
  expect(made()).toBe(2)
  mkdirSync(join(folder, 'made-by-hand'))
  await look(2)
  expect(made()).toBe(3)
  await look(2, join(folder, 'absent'))
  expect(made()).toBe(4)
})
