import { expect, test } from 'bun:test'
import { late as limits } from '@backlot/contract/limits'
import type { Window } from '@backlot/native'
import { until } from '../../../tests/support/until.ts'
import type { Session } from '../session/sessions.ts'
import { type Acting, Late } from './late.ts'
import type { Eyes, Look } from './witnesses.ts'

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

const lookAt = (title: string): Look => ({
  element: undefined,
  windows: [window(title)],
  place: undefined,
  whole: undefined,
  events: undefined,
  told: undefined,
  quietMs: undefined,
})

/** Eyes on a window whose title can be changed. */
class Titled implements Eyes {
  title = 'as it was'

  async first(): Promise<Look> {
    return lookAt(this.title)
  }

  async look(): Promise<Look> {
    return lookAt(this.title)
  }

  async heard(): Promise<void> {}

  async nextEvent(_since: number | undefined, ms: number): Promise<void> {
    await Bun.sleep(Math.min(ms, 1))
  }
}

const sessionOf = (key: string, end = new AbortController()) => {
  const owner: Session = { key, name: key, overrides: {}, signal: end.signal }
  const call = (): Acting => ({ owner, short: { maskedIn: (text) => text.replace('secret', '***') }, notes: {} })
  return { call, end: () => end.abort() }
}

const answer = { text: 'done', structured: { effect: 'unverified' } }

const clicks = (late: Late, call: Acting, eyes: Eyes): void => {
  const look = lookAt('as it was')
  late.note(call, { scene: { window: window('as it was') }, eyes, before: look, last: look })
  late.follow(call, 'click', answer)
}

const now = () => performance.now() + 1

test('what comes late is told once, to its session, without the secrets of its call', async () => {
  const late = new Late()
  const [a, b] = [sessionOf('a'), sessionOf('b')]
  const eyes = new Titled()
  clicks(late, a.call(), eyes)
  expect(await late.told('a', now(), answer)).toEqual(answer)
  eyes.title = 'a secret'
  await late.begin(b.call(), 1)
  expect(await late.told('b', now(), answer)).toEqual(answer)
  const told = await late.told('a', now(), answer)
  expect(told.structured).toMatchObject({ late: [{ after: 'click', pid: 1, window_id: 7 }] })
  expect(told.text).toMatch(/^done\nLate: after click at \d\d:\d\d:\d\d\.\d: window 7 "a \*\*\*" has a new title\.$/)
  expect(await late.told('a', now(), answer)).toEqual(answer)
  expect(late.size).toEqual({ followed: 0, kept: 0 })
})

test('an action that failed before it acted leaves the earlier ones followed, one that acted does not', async () => {
  const late = new Late()
  const a = sessionOf('a')
  const eyes = new Titled()
  clicks(late, a.call(), eyes)
  const refused = a.call()
  await late.begin(refused, 1)
  late.release(refused, false)
  expect(late.size.followed).toBe(1)
  const other = a.call()
  await late.begin(other, 1)
  expect(await late.lookLast(other)).toMatchObject({ isFound: false, open: [{ tool: 'click' }] })
  late.release(other, true)
  expect(late.size.followed).toBe(0)
})

test('a session that ended is kept nothing for', async () => {
  const late = new Late()
  const a = sessionOf('a')
  const eyes = new Titled()
  clicks(late, a.call(), eyes)
  a.end()
  late.forget('a')
  eyes.title = 'later'
  expect(await late.told('a', now(), answer)).toEqual(answer)
  expect(late.size).toEqual({ followed: 0, kept: 0 })
})

test('what is kept is bounded, and following ends by itself', async () => {
  const late = new Late()
  const a = sessionOf('a')
  for (let times = 0; times < limits.mostKept + 5; times += 1) {
    const eyes = new Titled()
    clicks(late, a.call(), eyes)
    eyes.title = 'other'
    await until('it to be seen', () => late.size.followed === 0)
  }
  expect(late.size.kept).toBe(limits.mostKept)
  expect((await late.told('a', now(), answer)).structured).toMatchObject({ late_left_out: 5 })
  for (let times = 0; times < limits.mostFollowed + 5; times += 1) clicks(late, a.call(), new Titled())
  expect(late.size.followed).toBe(limits.mostFollowed)
  await until('following to end', () => late.size.followed === 0)
  late.close()
})

test('an application that hangs delays no answer', async () => {
  const late = new Late()
  const a = sessionOf('a')
  const eyes = new Titled()
  eyes.look = () => new Promise(() => undefined)
  clicks(late, a.call(), eyes)
  expect(await late.told('a', now(), answer)).toEqual(answer)
  late.close()
  expect(late.size.followed).toBe(0)
})
