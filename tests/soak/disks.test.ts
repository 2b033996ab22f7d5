/** Disks at length: random sequences and power cuts, by the tests of the crate `qcow2` with higher numbers. */
import { expect, test } from 'bun:test'
import { crateTest, seed } from '../support/crate-test.ts'

test('QEMU and Backlot agree on disks after 1,000 random sequences', async () => {
  const numbers = { BACKLOT_DISK_SEQUENCES: '1000', BACKLOT_DISK_SEED: seed() }
  const said = await crateTest('sequences', 'qemu_agrees_after_random_sequences', numbers)
  expect(said).toContain('1000 sequences agreed')
}, 1_500_000)

test('200 disks that grow are whole after power cuts at every write', async () => {
  const numbers = { BACKLOT_POWER_CUT_IMAGES: '200', BACKLOT_DISK_SEED: seed() }
  const said = await crateTest('power_cuts', 'a_disk_that_grows_is_whole_after_a_power_cut_at_any_write', numbers)
  const [, files = '0', images] = /^(\d+) files after power cuts were whole .* of (\d+) tables moved$/m.exec(said) ?? []
  expect({ images, many: Number(files) > 1000 }).toEqual({ images: '200', many: true })
}, 600_000)
