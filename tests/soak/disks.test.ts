/** Disks at length: random sequences, power cuts and damaged images, by the tests of the crate `qcow2` with higher numbers. */
import { expect, test } from 'bun:test'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/** Runs a test of the crate and answers what it prints. */
const crateTest = async (file: string, name: string, numbers: Record<string, string>): Promise<string> => {
  // The registry's copies lie in the home that the throw-away root replaces.
  const CARGO_HOME = process.env.CARGO_HOME ?? join(userInfo().homedir, '.cargo')
  const command = ['cargo', 'test', '--quiet', '--offline', '-p', 'qcow2', '--test', file, name, '--', '--nocapture']
  const child = Bun.spawn(command, { env: { ...process.env, CARGO_HOME, ...numbers }, stdout: 'pipe', stderr: 'pipe' })
  const [said, complained] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  expect({ file, status: await child.exited, complained: complained.slice(0, 4000) }).toMatchObject({ file, status: 0 })
  return said
}

/** A seed that nobody has tried; a failure names it. */
const seed = (): string => String(Math.floor(Math.random() * 2 ** 40))

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

test('no damaged image makes Backlot panic, hang or do damage in ten minutes', async () => {
  const numbers = { BACKLOT_FUZZ_SECONDS: '600', BACKLOT_FUZZ_SEED: seed() }
  const said = await crateTest('fuzz', 'no_image_makes_it_panic_hang_or_do_damage', numbers)
  const inputs = Number(/inputs: (\d+)/.exec(said)?.[1] ?? 0)
  expect(inputs).toBeGreaterThan(10_000)
}, 900_000)
