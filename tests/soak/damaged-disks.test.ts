/** Damaged and hostile disks at length, by the test of the crate `qcow2` with a higher number. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { crateTest, seed } from '../support/crate-test.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(900_000))

const seconds = rounds(300)

test(`no damaged image makes Backlot panic, hang or do damage in ${seconds} seconds`, async () => {
  const numbers = { BACKLOT_FUZZ_SECONDS: `${seconds}`, BACKLOT_FUZZ_SEED: seed() }
  const said = await crateTest('fuzz', 'no_image_makes_it_panic_hang_or_do_damage', numbers)
  const inputs = Number(/inputs: (\d+)/.exec(said)?.[1] ?? 0)
  expect(inputs).toBeGreaterThan(10 * seconds)
})
