import { expect, setDefaultTimeout, test } from 'bun:test'
import { bootedAfterKill, openHome } from '../support/killed-host.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(1_200_000))

const boots = rounds(8)

test(`guests whose host was killed while they were cloned boot, ${boots} times`, async () => {
  await using scene = await openHome()
  for (let round = 0; round < boots; round += 1) {
    const answered = await bootedAfterKill(scene, (round + 0.5) / boots)
    expect([round, answered.filter((name) => name !== 'second')]).toEqual([round, ['first', 'guest']])
  }
})
