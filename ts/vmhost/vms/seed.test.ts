import { afterAll, beforeAll, expect, test } from 'bun:test'
import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wordsForSeed, writeSeed } from './seed.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-seed-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const about = { instanceId: 'backlot-1', hostName: 'my_vm.1' }
const words = 'backlot.instance=backlot-1 backlot.hostname=my-vm-1'

/** The folder of a VM with a seed. */
const seeded = async (userData?: string): Promise<string> => {
  const vm = await mkdtemp(join(folder, 'vm-'))
  await writeSeed(vm, { ...about, userData })
  return vm
}

test('a seed that says no more than who the guest is can be said in words', async () => {
  expect(await wordsForSeed(await seeded(), about)).toBe(words)
})

test('one that asks for something, or that somebody has changed, cannot', async () => {
  expect(await wordsForSeed(await seeded('#!/bin/sh\ntrue\n'), about)).toBeUndefined()
  for (const file of ['meta-data', 'user-data']) {
    const vm = await seeded()
    await appendFile(join(vm, 'seed', file), 'more: 1\n')
    expect(await wordsForSeed(vm, about)).toBeUndefined()
  }
  expect(await wordsForSeed(await seeded(), { ...about, instanceId: 'backlot-2' })).toBeUndefined()
  expect(await wordsForSeed(await mkdtemp(join(folder, 'bare-')), about)).toBeUndefined()
})
