import { expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { templatePrefix } from '../vms/vm-directory.ts'
import { placeOf, type VmPlace } from '../vms/vm-store.ts'
import { TemplatesInUse } from './in-use.ts'
import { sweepTemplates } from './sweep.ts'

test('a template that this service boots stays where another is made, and what a killed one left goes', async () => {
  const path = mkdtempSync(join(tmpdir(), 'backlot-templates-'))
  const storage = { name: 'home', path }
  const [own, booting, left] = ['own', 'booting', 'left'].map((name) => placeOf(storage, `${templatePrefix}${name}`))
  if (own === undefined || booting === undefined || left === undefined) throw new Error('there are three')
  for (const each of [own, booting, left]) mkdirSync(each.path)
  const templates = new TemplatesInUse()
  using _own = templates.use(own)
  using _booting = templates.use(booting)
  const removed: string[] = []
  const host = {
    templates,
    locks: { tryTake: () => ({ [Symbol.dispose]: () => undefined }) },
    machines: { isElsewhere: () => false },
    store: { remove: async (place: VmPlace) => removed.push(place.path) },
  } as unknown as Parameters<typeof sweepTemplates>[0]
  await sweepTemplates(host, [storage], own)
  expect(removed.sort()).toEqual([left.path, own.path])
  rmSync(path, { recursive: true })
})
