import { expect, test } from 'bun:test'
import { killedDuring, openHome } from '../../support/killed-host.ts'

test('VMs are whole or gone, and run on, when their host is killed in the middle of its work, five times', async () => {
  await using scene = await openHome()
  for (const [round, kind] of ['create', 'clone', 'set', 'run', 'stop'].entries()) {
    expect({ kind, wrong: await killedDuring(scene, kind, (round + 1) / 6) }).toEqual({ kind, wrong: [] })
  }
})
