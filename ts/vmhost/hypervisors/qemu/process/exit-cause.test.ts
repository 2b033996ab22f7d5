import { expect, test } from 'bun:test'
import { endingOf, lastLines } from './exit-cause.ts'

const of = (seen: Partial<Parameters<typeof endingOf>[0]>, exit?: string, log = '') => {
  const { cause, expected } = endingOf({ killed: false, asked: false, ...seen }, exit, log)
  return [cause, expected]
}

test('an end has a cause, and was expected or not', () => {
  expect(of({ killed: true, reason: 'host-qmp-quit' })).toEqual(['It was stopped by force.', true])
  expect(of({ asked: true, reason: 'guest-shutdown' })).toEqual(['It was asked to shut down, and did.', true])
  expect(of({ reason: 'guest-shutdown' })).toEqual(['The guest shut down.', true])
  expect(of({ asked: true, reason: 'guest-panic' })).toEqual(['The kernel of the guest panicked.', false])
  expect(of({ reason: 'host-signal' })[1]).toBe(false)
  expect(of({}, 'SIGSEGV', 'one\n\nlast words\n')).toEqual([
    'Its hypervisor ended unexpectedly (SIGSEGV): last words',
    false,
  ])
  expect(of({ reason: 'something-new' })).toEqual(['Its hypervisor ended unexpectedly (nobody saw how)', false])
})

test('last lines leave out the empty ones', () => {
  expect(lastLines('a\n\n b\nc\n', 2)).toEqual([' b', 'c'])
})
