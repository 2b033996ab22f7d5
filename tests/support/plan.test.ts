import { expect, test } from 'bun:test'
import { countsOfBun, countsOfCargo, plan } from './plan.ts'

const files = [
  'tests/soak/kill.test.ts',
  'ts/driver/check.test.ts',
  'tests/e2e/tree.test.ts',
  'tests/e2e/hazard/kill.test.ts',
]
const request = {
  files: [...files, 'tests/soak/fuzz.test.ts'],
  crates: ['ax', 'input'],
  filter: undefined,
  soak: false,
}
const shape = (wish: Partial<Parameters<typeof plan>[0]>) => {
  const { cargo, bun } = plan({ ...request, ...wish })
  return {
    cargo,
    bun: bun.map(({ label, name, apart }) => [label, ...(name ? [name] : []), ...(apart ? ['apart'] : [])]),
  }
}

test('a whole run leaves the soak groups out, and runs hazards apart', () => {
  expect(shape({})).toEqual({
    cargo: ['--workspace'],
    bun: [['unit and shape tests'], ['tests/e2e/hazard/kill.test.ts', 'apart'], ['tests/e2e/tree.test.ts']],
  })
})

test('soak adds all groups, or one by its number modulo how many there are', () => {
  expect(shape({ soak: true }).bun.slice(3)).toEqual([
    ['tests/soak/fuzz.test.ts', 'apart'],
    ['tests/soak/kill.test.ts', 'apart'],
  ])
  expect(shape({ soak: 41 }).bun.slice(3)).toEqual([['tests/soak/kill.test.ts', 'apart']])
})

test('a filter is a path, a crate or a test name', () => {
  expect(shape({ filter: 'e2e/tree' })).toEqual({ cargo: undefined, bun: [['tests/e2e/tree.test.ts']] })
  expect(shape({ filter: 'ax' })).toEqual({ cargo: ['-p', 'ax'], bun: [] })
  expect(shape({ filter: 'clicks (twice)' }).cargo).toEqual(['--workspace', 'clicks (twice)'])
  expect(shape({ filter: 'clicks (twice)' }).bun[0]).toEqual(['unit and shape tests', RegExp.escape('clicks (twice)')])
})

test('the summaries of both runners add up', () => {
  const cargo = 'test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s\n'
  expect(countsOfCargo(cargo + cargo.replace('0 failed', '2 failed'))).toEqual({ passed: 24, failed: 2, skipped: 2 })
  const bun = ' 3 pass\n 1 skip\n 2 todo\n 4 filtered out\n 1 fail\n 9 expect() calls\nRan 7 tests across 1 file.\n'
  expect(countsOfBun(bun)).toEqual({ passed: 3, failed: 1, skipped: 3 })
})
