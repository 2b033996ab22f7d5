import { expect, test } from 'bun:test'
import type { Result } from './execute.ts'
import type { Job } from './job.ts'
import { failures, line, times } from './report.ts'

const done = (name: string, changes: Partial<Result> = {}) => {
  const job: Job = { name, runner: 'bun', files: [], network: 'own', soaks: false, dangerous: false, minutes: 1 }
  const counts = { passed: 3, failed: 0, skipped: 0 }
  const nothing = { failed: [], skipped: [], left: [], proofs: [], waits: [], output: '', files: new Map() }
  return { job, result: { counts, ...nothing, seconds: 12.3, cpuSeconds: 4.56, systemSeconds: 1.23, ...changes } }
}

test('a job says in a line what came of it and what it took', () => {
  expect(line(done('tests/e2e/a.test.ts'), '1/2')).toBe(
    'ok   1/2   12 s (cpu 4.6 s, system 1.2 s)  tests/e2e/a.test.ts: 3 passed',
  )
  const counts = { passed: 3, failed: 1, skipped: 2 }
  expect(line(done('crate ax, tests', { counts }), '2/2')).toEndWith('crate ax, tests: 3 passed, 1 failed, 2 skipped')
})

test('the longest and the dearest jobs and the waits are named, waits for the same under numbers of a run as one', () => {
  const waits = [
    { what: 'an answer of "one" at 127.77.1.2', ms: 4_000 },
    { what: 'an answer of "one" at 127.77.9.9', ms: 2_500 },
  ]
  expect(times([done('tests/e2e/a.test.ts', { waits }), done('b', { seconds: 40, cpuSeconds: 9 })], 20, 2)).toEqual([
    'longest: b 40 s, tests/e2e/a.test.ts 12 s',
    'most processor time: b 9.0 s, tests/e2e/a.test.ts 4.6 s',
    'waited longest for:',
    '  6.5 s in 2 waits: an answer of "one" at … (e2e/a.test.ts)',
    'in 20 s; processors used to 34 % (14 s, system 2.5 s)',
  ])
})

test('what failed is told with the lines that say why', () => {
  const counts = { passed: 3, failed: 1, skipped: 0 }
  const ofBun =
    'ok\nerror: expect(received).toBe(expected)\n\nExpected: 1\nReceived: 2\n      at <anonymous> (/a/tests/e2e/a.test.ts:3:1)\n'
  const ofCargo =
    "running 1 test\nthread 'two' (7) panicked at src/a.rs:1:1:\nthe talk has no result: 0\nnote: run with\n"
  expect(
    failures([
      done('tests/e2e/a.test.ts', { counts, failed: ['one'], output: ofBun }),
      done('crate ax, tests', { counts, failed: ['two'], output: ofCargo }),
      done('fine'),
    ]),
  ).toEqual([
    'failed: tests/e2e/a.test.ts: one',
    '    error: expect(received).toBe(expected)',
    '    Expected: 1',
    '    Received: 2',
    '    at <anonymous> (/a/tests/e2e/a.test.ts:3:1)',
    'failed: crate ax, tests: two',
    "    thread 'two' (7) panicked at src/a.rs:1:1:",
    '    the talk has no result: 0',
  ])
})
