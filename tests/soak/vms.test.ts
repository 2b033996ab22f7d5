import { expect, test } from 'bun:test'
import { bootedAfterKill, killedDuring, kinds, openHome } from '../support/killed-host.ts'

const rounds = 100

test('VMs are whole or gone, and run on, when their host is killed in the middle of its work, 100 times', async () => {
  await using scene = await openHome()
  const names = Object.keys(kinds)
  for (let round = 0; round < rounds; round += 1) {
    const kind = names[round % names.length] as string
    // Fourteen or fifteen rounds a kind, each at another part of it.
    const part = (Math.floor(round / names.length) + 0.5) / Math.ceil(rounds / names.length)
    expect({ round, kind, part, wrong: await killedDuring(scene, kind, part) }).toEqual({
      round,
      kind,
      part,
      wrong: [],
    })
  }
}, 2_000_000)

test('guests whose host was killed while they were cloned boot, eight times', async () => {
  await using scene = await openHome()
  for (let round = 0; round < 8; round += 1) {
    const answered = await bootedAfterKill(scene, (round + 0.5) / 8)
    expect([round, answered.filter((name) => name !== 'second')]).toEqual([round, ['first', 'guest']])
  }
}, 1_200_000)
