import { expect, test } from 'bun:test'
import { late as limits } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import { until } from '../../../tests/support/until.ts'
import type { Session } from '../session/sessions.ts'
import type { Observation, Observer } from './evidence.ts'
import { type ActingCall, LateEffects } from './late-effects.ts'

const window = (title: string): Window => ({
  window_id: 7,
  pid: 1,
  app_name: 'Editor',
  title,
  bounds: { x: 0, y: 0, width: 10, height: 10 },
  x: 0,
  y: 0,
  width: 10,
  height: 10,
  z_index: 0,
  is_on_screen: true,
  on_current_space: true,
  is_minimized: false,
  kind: 'normal',
  owner_window_id: null,
})

const observationOf = (title: string): Observation => ({
  element: undefined,
  windows: [window(title)],
  place: undefined,
  whole: undefined,
  allEvents: undefined,
  changeEvents: undefined,
  sinceEventMs: undefined,
})

/** Observes a window whose title can be changed. */
class Titled implements Observer {
  title = 'as it was'

  async observeBefore(): Promise<Observation> {
    return observationOf(this.title)
  }

  async observe(): Promise<Observation> {
    return observationOf(this.title)
  }

  async eventsReceived(): Promise<void> {}

  async nextEvent(_since: number | undefined, ms: number): Promise<void> {
    await Bun.sleep(Math.min(ms, 1))
  }
}

const sessionOf = (key: string, end = new AbortController()) => {
  const owner: Session = { key, name: key, overrides: {}, signal: end.signal }
  const call = (): ActingCall => ({ owner, short: { maskedIn: (text) => text.replace('secret', '***') }, notes: {} })
  return { call, end: () => end.abort() }
}

const answer = { text: 'done', structured: { effect: 'unverified' } }

const clicks = (late: LateEffects, call: ActingCall, observer: Observer): void => {
  const look = observationOf('as it was')
  late.noteCandidate(call, { context: { window: window('as it was') }, observer, before: look, last: look })
  late.follow(call, 'click', answer)
}

const now = () => performance.now() + 1

test('what comes late is told once, to its session, without the secrets of its call', async () => {
  const late = new LateEffects()
  const [a, b] = [sessionOf('a'), sessionOf('b')]
  const observer = new Titled()
  clicks(late, a.call(), observer)
  expect(await late.withLateFacts('a', now(), answer)).toEqual(answer)
  observer.title = 'a secret'
  await late.begin(b.call(), 1)
  expect(await late.withLateFacts('b', now(), answer)).toEqual(answer)
  const told = await late.withLateFacts('a', now(), answer)
  expect(told.structured).toMatchObject({ late: [{ after: 'click', pid: 1, window_id: 7 }] })
  expect(told.text).toMatch(/^done\nLate: after click at \d\d:\d\d:\d\d\.\d: window 7 "a \*\*\*" has a new title\.$/)
  expect(await late.withLateFacts('a', now(), answer)).toEqual(answer)
  expect(late.size).toEqual({ followed: 0, kept: 0 })
})

test('an action that failed before it acted leaves the earlier ones followed, one that acted does not', async () => {
  const late = new LateEffects()
  const a = sessionOf('a')
  const observer = new Titled()
  clicks(late, a.call(), observer)
  const refused = a.call()
  await late.begin(refused, 1)
  late.release(refused, false)
  expect(late.size.followed).toBe(1)
  const other = a.call()
  await late.begin(other, 1)
  expect(await late.observeLast(other)).toMatchObject({ isFound: false, open: [{ tool: 'click' }] })
  late.release(other, true)
  expect(late.size.followed).toBe(0)
})

test('a session that ended is kept nothing for', async () => {
  const late = new LateEffects()
  const a = sessionOf('a')
  const observer = new Titled()
  clicks(late, a.call(), observer)
  a.end()
  late.forget('a')
  observer.title = 'later'
  expect(await late.withLateFacts('a', now(), answer)).toEqual(answer)
  expect(late.size).toEqual({ followed: 0, kept: 0 })
})

test('what is kept is bounded, and following ends by itself', async () => {
  const late = new LateEffects()
  const a = sessionOf('a')
  for (let times = 0; times < limits.mostKept + 5; times += 1) {
    const observer = new Titled()
    clicks(late, a.call(), observer)
    observer.title = 'other'
    await until('it to be seen', () => late.size.followed === 0)
  }
  expect(late.size.kept).toBe(limits.mostKept)
  expect((await late.withLateFacts('a', now(), answer)).structured).toMatchObject({ late_left_out: 5 })
  for (let times = 0; times < limits.mostFollowed + 5; times += 1) clicks(late, a.call(), new Titled())
  expect(late.size.followed).toBe(limits.mostFollowed)
  await until('following to end', () => late.size.followed === 0)
  late.close()
})

test('an application that hangs delays no answer', async () => {
  const late = new LateEffects()
  const a = sessionOf('a')
  const observer = new Titled()
  observer.observe = () => new Promise(() => undefined)
  clicks(late, a.call(), observer)
  expect(await late.withLateFacts('a', now(), answer)).toEqual(answer)
  late.close()
  expect(late.size.followed).toBe(0)
})
