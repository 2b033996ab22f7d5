import { expect, test } from 'bun:test'
import { failedOfBun, failedOfCargo, worthAgain } from './again.ts'

const cargo = `
running 7 tests
.... 4/7
text_goes_both_ways --- FAILED
..
failures:

---- text_goes_both_ways stdout ----
test result: FAILED. 6 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 2.21s

error: test failed, to rerun pass \`-p desktop --test clipboard\`

running 1 test
.
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 4.28s

running 2 tests
here::a_name --- FAILED
other --- FAILED

error: test failed, to rerun pass \`-p ax --lib\`
error: 2 targets failed:
    \`-p desktop --test clipboard\`
    \`-p ax --lib\`
`

test('the failed tests of cargo are tried again by program and exact name', () => {
  const { names, commands } = failedOfCargo(cargo)
  expect(names).toEqual(['text_goes_both_ways', 'here::a_name', 'other'])
  const wanted = ['--', '--exact', '--test-threads=1', ...names]
  expect(commands).toEqual([
    ['cargo', 'test', '--quiet', '-p', 'desktop', '--test', 'clipboard', ...wanted],
    ['cargo', 'test', '--quiet', '-p', 'ax', '--lib', ...wanted],
  ])
  expect(failedOfCargo('error: could not compile `ax`')).toEqual({ names: [], commands: [] })
})

test('the failed tests of bun are known by name', () => {
  const output = '(pass) one [3.00ms]\n(fail) two words > three [12.50ms]\n(fail) four\n 1 pass\n 2 fail\n'
  expect(failedOfBun(output)).toEqual(['two words > three', 'four'])
})

test('soak tests and tests without real parts have one try', () => {
  const step = (files: string[]) => ({ label: '', files, apart: false, minutes: 1 })
  expect(worthAgain(step(['tests/e2e/hazard/kill.test.ts']))).toBe(true)
  expect(worthAgain(step(['tests/soak/kill.test.ts']))).toBe(false)
  expect(worthAgain(step(['ts/a.test.ts']))).toBe(false)
})
