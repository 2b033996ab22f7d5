import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reportOfCargo, reportsOfBun, total } from './counts.ts'

const written = `
import { describe, expect, test } from 'bun:test'
describe('a "group" & more', () => test('passes', () => {}))
test('fails < here', () => expect(1).toBe(2))
test.skipIf(true)('is skipped', () => {})
test('é', () => { throw new Error('no') })
`

test('the report of a real run of bun names what failed and what was skipped', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'backlot-counts-'))
  try {
    await Bun.write(join(folder, 'one.test.ts'), written)
    const command = [process.execPath, 'test', '--reporter=junit', '--reporter-outfile=junit.xml', './one.test.ts']
    const { exitCode } = Bun.spawnSync(command, { cwd: folder })
    expect(exitCode).toBe(1)
    const [report] = reportsOfBun(await Bun.file(join(folder, 'junit.xml')).text()).values()
    expect(report).toEqual({
      counts: { passed: 1, failed: 2, skipped: 1 },
      failed: ['fails < here', 'é'],
      skipped: ['is skipped'],
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const cargo = `
running 4 tests
test here::passes ... ok
test slow ... ignored, needs a device
test clicks ... FAILED
test keys::types ... FAILED

failures:

---- clicks stdout ----
no
failures:
    clicks
    keys::types

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s
`

test("the report of a program of Rust's names what failed and what was ignored", () => {
  expect(reportOfCargo(cargo)).toEqual({
    counts: { passed: 1, failed: 2, skipped: 1 },
    failed: ['clicks', 'keys::types'],
    skipped: ['slow'],
  })
})

test('counts add up', () => {
  expect(
    total([
      { passed: 1, failed: 2, skipped: 3 },
      { passed: 4, failed: 0, skipped: 1 },
    ]),
  ).toEqual({
    passed: 5,
    failed: 2,
    skipped: 4,
  })
})
