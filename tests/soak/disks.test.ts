/** Disks at length: random sequences and power cuts, by the tests of the crate `qcow2` with higher numbers. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { crateTest, seed } from '../support/crate-test.ts'
import { limitMs, rounds } from '../support/soak.ts'

setDefaultTimeout(limitMs(1_500_000))

const sequences = rounds(500)
const images = rounds(200)

test(`QEMU and Backlot agree on disks after ${sequences} random sequences`, async () => {
  const numbers = { BACKLOT_DISK_SEQUENCES: `${sequences}`, BACKLOT_DISK_SEED: seed() }
  const said = await crateTest('sequences', 'qemu_agrees_after_random_sequences', numbers)
  expect(said).toContain(`${sequences} sequences agreed`)
})

test(`${images} disks that grow are whole after power cuts at every write`, async () => {
  const numbers = { BACKLOT_POWER_CUT_IMAGES: `${images}`, BACKLOT_DISK_SEED: seed() }
  const said = await crateTest('power_cuts', 'a_disk_that_grows_is_whole_after_a_power_cut_at_any_write', numbers)
  const [, files = '0', cut] = /(\d+) files after power cuts were whole .* of (\d+) tables moved$/m.exec(said) ?? []
  expect({ cut, many: Number(files) > 5 * images }).toEqual({ cut: `${images}`, many: true })
})
