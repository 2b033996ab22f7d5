import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findAcceleration } from './accelerator.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backlot-accelerator-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** A program that does what a QEMU in trouble does; the real one cannot be brought to. */
const fakeQemu = async (name: string, ...lines: string[]): Promise<string> => {
  const program = join(folder, name)
  await writeFile(program, `#!/bin/sh\n[ "$1" != --version ] || exec echo "QEMU fake"\n${lines.join('\n')}\n`)
  await chmod(program, 0o755)
  return program
}

const real = Bun.which('qemu-system-x86_64') ?? ''

test('a real QEMU runs the tiny guest, and the answer is kept', async () => {
  const cache = join(folder, 'real', 'accelerator.json')
  const found = await findAcceleration({ cache })
  expect(found.version).toContain('QEMU emulator version')
  expect(found.refusal === null).toBe(found.accelerator === 'kvm')
  expect(found.slowdown).toBeGreaterThanOrEqual(1)
  const written = await stat(cache)
  expect(await findAcceleration({ cache })).toEqual(found)
  expect((await stat(cache)).ino).toBe(written.ino)
}, 120_000)

test('an answer of another boot or another program is asked for anew', async () => {
  const cache = join(folder, 'old.json')
  const found = await findAcceleration({ cache })
  const kept = JSON.parse(await readFile(cache, 'utf8'))
  const wrong = { ...found, version: 'of another boot' }
  await writeFile(cache, JSON.stringify({ situation: `x${kept.situation}`, found: wrong }))
  expect((await findAcceleration({ cache })).version).toBe(found.version)
  await writeFile(cache, 'no json')
  expect((await findAcceleration({ cache })).version).toBe(found.version)
}, 120_000)

test('a KVM under which the guest hangs is not used', async () => {
  const program = await fakeQemu('hanging', `case "$*" in *"-accel kvm"*) exec sleep 100 ;; esac`, `exec ${real} "$@"`)
  const found = await findAcceleration({
    cache: join(folder, 'hanging.json'),
    program,
    limitsMs: { kvm: 300, tcg: 60_000 },
  })
  expect(found).toMatchObject({ accelerator: 'tcg', refusal: 'the guest did not get through in 0.3 s.' })
}, 120_000)

test('a KVM that hangs is given up by what the same guest took under emulation', async () => {
  // It hangs for longer than the test may take.
  const program = await fakeQemu(
    'hanging-long',
    `case "$*" in *"-accel kvm"*) exec sleep 1000 ;; esac`,
    `exec ${real} "$@"`,
  )
  const found = await findAcceleration({
    cache: join(folder, 'hanging-long.json'),
    program,
    limitsMs: { kvm: 1_000_000, tcg: 60_000 },
  })
  expect(found).toMatchObject({ accelerator: 'tcg', refusal: expect.stringMatching(/^the guest did not get through/) })
}, 120_000)

test('a guest that gets through under KVM decides for it', async () => {
  // What is asked of KVM is run without it: only whose answer counts is looked at.
  const words = `for word; do shift; [ "$word" != kvm ] || word=tcg; set -- "$@" "$word"; done`
  const program = await fakeQemu('willing', words, `exec ${real} "$@"`)
  const found = await findAcceleration({
    cache: join(folder, 'willing.json'),
    program,
    limitsMs: { kvm: 60_000, tcg: 1 },
  })
  expect(found).toMatchObject({ accelerator: 'kvm', refusal: null })
}, 120_000)

test('where no guest runs both reasons are told: no_accelerator', async () => {
  const program = await fakeQemu('broken', 'echo "qemu-system-x86_64: no firmware" >&2; exit 1')
  const attempt = findAcceleration({ cache: join(folder, 'broken.json'), program })
  await expect(attempt).rejects.toMatchObject({
    code: 'no_accelerator',
    data: { refusals: ['no firmware.', 'no firmware.'] },
  })
  expect(await Bun.file(join(folder, 'broken.json')).exists()).toBe(false)
})

test('a QEMU that is absent is named with its package', async () => {
  const attempt = findAcceleration({ cache: join(folder, 'absent.json'), program: 'qemu-of-nobody' })
  await expect(attempt).rejects.toMatchObject({ code: 'missing_program', data: { program: 'qemu-of-nobody' } })
})
