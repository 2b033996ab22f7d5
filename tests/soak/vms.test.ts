import { expect, setDefaultTimeout, test } from 'bun:test'
import { killedDuring, kinds, openHome } from '../support/killed-host.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(2_000_000))

const kills = rounds(70)

test(`VMs are whole or gone, and run on, when their host is killed in the middle of its work, ${kills} times`, async () => {
  await using scene = await openHome()
  const names = Object.keys(kinds)
  for (let round = 0; round < kills; round += 1) {
    const kind = names[round % names.length] as string
    // Every round of a kind is at another part of it.
    const part = (Math.floor(round / names.length) + 0.5) / Math.ceil(kills / names.length)
    expect({ round, kind, part, wrong: await killedDuring(scene, kind, part) }).toEqual({
      round,
      kind,
      part,
      wrong: [],
    })
  }
})
