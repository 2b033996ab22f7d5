import { afterEach, expect, jest, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { environment } from '@backlot/contract/limits'
import { proving } from '../../../tests/support/proves.ts'
import { scratchFolder } from '../../../tests/support/scratch.ts'
import { callTool } from '../call.ts'
import { openDriver } from '../driver.ts'
import { click } from '../tools/click.ts'
import { startSession } from '../tools/sessions.ts'
import { sessionOf } from './session-name.ts'
import { anonymous, type Session, Sessions } from './sessions.ts'

const over: string[] = []
afterEach(() => void over.splice(0))

const opened = (env: Record<string, string> = {}) => {
  const sessions = new Sessions(env)
  sessions.follow({
    async ended({ key }) {
      over.push(key)
    },
  })
  return sessions
}

const never = new AbortController().signal

const use = (sessions: Sessions, client: string, session?: string): Promise<Session> =>
  sessions.runCall(
    { client, ...(client !== anonymous && { holder: client }), ...(session && { session }) },
    never,
    async (owner) => owner,
  )

const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error) => Failure.from(error).code,
  )

test('a name means the same session whoever says it, and a connection without one is its own', async () => {
  const sessions = opened()
  const one = await use(sessions, 'client-1', 'a')
  expect(await use(sessions, 'client-2', 'a')).toBe(one)
  expect(await use(sessions, 'client-1')).not.toBe(one)
  expect(await use(sessions, 'client-1')).toBe(await use(sessions, 'client-1'))
  expect(await use(sessions, anonymous)).toBe(await use(sessions, anonymous))
  expect((await use(sessions, 'client-1', 'client-1')).key).not.toBe((await use(sessions, 'client-1')).key)
  expect(sessions.active).toEqual(['a', 'client-1'])
})

test('a call that only looks begins no named session, and sees one that nobody has used', async () => {
  const sessions = opened()
  const look = (session?: string) =>
    sessions.runCall({ client: 'client-1', ...(session && { session }) }, never, async (owner) => owner, true)
  const unused = await look('a')
  expect([unused.name, unused.overrides, sessions.active]).toEqual(['a', {}, []])
  const begun = await use(sessions, 'client-1', 'a')
  expect([begun.key, await look('a'), sessions.active]).toEqual([unused.key, begun, ['a']])
  // A connection's own is its own from the first look.
  expect(await look()).toBe(await use(sessions, 'client-1'))
  await sessions.end('a')
  sessions.start('a', undefined)
  await sessions.end('a')
  expect(await codeOf(look('a'))).toBe('session_ended')
})

test('an ended session refuses its late calls until it is declared again', async () => {
  const sessions = opened()
  sessions.start('a', undefined)
  expect(await sessions.end('a')).toBe(true)
  expect(await sessions.end('a')).toBe(false)
  expect(over).toEqual(['session a'])
  expect(await codeOf(use(sessions, 'client-1', 'a'))).toBe('session_ended')
  expect(sessions.start('a', undefined).isNew).toBe(true)
  expect(sessions.start('a', undefined).isNew).toBe(false)
  expect(await codeOf(use(sessions, 'client-1', 'a'))).toBe('none')
})

test('a call under way fails when its session ends', async () => {
  const sessions = opened()
  const running = sessions.runCall({ client: 'client-1', session: 'a' }, never, async (_, signal) => {
    const { promise, reject } = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => reject(signal.reason))
    await sessions.end('a')
    return promise
  })
  expect(await codeOf(running)).toBe('session_ended')
})

test('one that cannot give back what a session had keeps nobody else from it', async () => {
  const sessions = new Sessions({})
  sessions.follow({
    ended: async () => {
      throw new Failure('display_lost', 'The display is lost.')
    },
  })
  const done: string[] = []
  sessions.follow({
    async ended({ key }) {
      await new Promise(setImmediate)
      done.push(key)
    },
  })
  for (const end of [() => sessions.end('a'), () => sessions.disconnected('client-1'), () => sessions.close()]) {
    sessions.start('a', 'client-1')
    sessions.start('b', 'client-1')
    expect(await codeOf(end())).toBe('display_lost')
  }
  expect(done).toHaveLength(5)
})

test('a driver that cannot give everything back has finished its recordings', async () => {
  const output_dir = join(scratchFolder('ending'), 'recorded')
  const driver = await openDriver({ display: ':no-display', configFile: '/nonexistent/config.json' })
  driver.sessions.follow({ ended: () => Promise.reject(new Failure('display_lost', 'The display is lost.')) })
  const context = { client: 'test', session: 'recorded', signal: never }
  await callTool(driver, 'start_session', { session: 'recorded' }, { client: 'test', signal: never })
  await callTool(driver, 'start_recording', { output_dir }, context)
  expect(await codeOf((async () => driver[Symbol.asyncDispose]())())).toBe('display_lost')
  const { stopped_because } = JSON.parse(readFileSync(join(output_dir, 'session.json'), 'utf8'))
  expect(stopped_because).toBe('the driver ended')
})

test('the end of a connection ends its own session and those that it started', async () => {
  const sessions = opened()
  sessions.start('declared', 'client-1')
  await use(sessions, 'client-1', 'named')
  await use(sessions, 'client-1')
  await use(sessions, 'client-2')
  sessions.start('of the other', 'client-2')
  await use(sessions, 'client-1', 'of the other')
  await use(sessions, anonymous, 'from a shell')
  await sessions.disconnected('client-1')
  expect(over.sort()).toEqual(['client-1', 'session declared', 'session named'])
  expect(sessions.active).toEqual(['of the other', 'from a shell'])
  expect(await codeOf(use(sessions, anonymous, 'declared'))).toBe('session_ended')
  // What was only named is not mistaken for the late call of a run that said when it begins.
  expect(await codeOf(use(sessions, anonymous, 'named'))).toBe('none')
})

test('a session without calls ends, one with a call under way does not', async () => {
  const sessions = opened({ DRIVER_SESSION_IDLE_TTL_SECS: '0.05' })
  const ended = Promise.withResolvers<void>()
  const { session } = sessions.start('idle', undefined)
  session.signal.addEventListener('abort', () => ended.resolve())
  const long = sessions.runCall({ client: anonymous, session: 'busy' }, never, async (busy) => {
    await ended.promise
    return busy.signal.aborted
  })
  expect(await long).toBe(false)
  expect(await codeOf(use(sessions, anonymous, 'idle'))).toBe('session_ended')
})

test(
  'a session without calls ends after 300 s where nothing else is said, as end_session ends it',
  proving(['driver.session.idle-timeout', 'driver.limits.session-idle'], async () => {
    expect(process.env[environment.sessionIdle]).toBeUndefined()
    await using driver = await openDriver({ display: ':no-display', configFile: '/nonexistent/config.json' })
    const call = async (name: string, args = {}) =>
      (await callTool(driver, name, args, { client: 'test', signal: never })).structuredContent
    // Nobody waits five minutes for a test: the clock is not the real one. Shorter times are tested with it, end to end.
    jest.useFakeTimers()
    try {
      await call('start_session', { session: 'idle' })
      jest.advanceTimersByTime(200_000)
      expect(await call('get_config', { session: 'idle' })).not.toHaveProperty('code')
      jest.advanceTimersByTime(299_999)
      expect(await call('start_session', { session: 'idle' })).toMatchObject({ active: true, started: false })
      jest.advanceTimersByTime(300_000)
      expect(await call('get_config', { session: 'idle' })).toMatchObject({ code: 'session_ended', session: 'idle' })
      expect(await call('end_session', { session: 'idle' })).toMatchObject({ active: false, ended: false })
    } finally {
      jest.useRealTimers()
    }
  }),
)

test('an idle time that is no number of seconds is refused where a session begins', () => {
  for (const wrong of ['soon', '-1', '0', '1e3']) {
    expect(() => opened({ DRIVER_SESSION_IDLE_TTL_SECS: wrong }).start('a', undefined)).toThrow(
      'DRIVER_SESSION_IDLE_TTL_SECS',
    )
  }
})

test('a call names its session as session, by the older name, or through its edge', () => {
  expect(sessionOf(click, { session: 'a', cursor_id: 'b' }, 'c')).toEqual({ session: 'a' })
  expect(sessionOf(click, { session: null, cursor_id: 'b' }, 'c')).toEqual({ session: 'b' })
  expect(sessionOf(click, {}, 'c')).toEqual({ session: 'c' })
  expect(sessionOf(click, undefined)).toEqual({})
  expect(sessionOf(startSession, { session: 'a' }, 'c')).toEqual({})
  for (const session of ['', 7, {}, 'x'.repeat(201), '\ud800']) {
    expect(() => sessionOf(click, { session })).toThrow('Argument "session" must be a string')
  }
})
