/** Calls of many clients through a daemon that is stopped, replaced by another version, killed and hung all the time. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { daemon as limits } from '@backlot/contract/limits'
import { startCounter } from '../support/applications.ts'
import { backlotCommand } from '../support/backlot.ts'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { driverCommand, lookForEffects } from '../support/driver.ts'
import { element } from '../support/look.ts'
import { connect, connectTo } from '../support/mcp-client.ts'
import { buildOtherVersion } from '../support/other-version.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(limitMs(1_000_000))

const on = privateDesktop()
const calls = rounds(1_000)

/** What a call may be refused with, and how often it may have been done then. */
const refusals: Readonly<Record<string, number>> = {
  // It was not begun.
  not_running: 0,
  daemon_unavailable: 0,
  daemon_mismatch: 0,
  // It was begun, and may have ended before it was done, or when it was.
  daemon_lost: 1,
  cancelled: 1,
  session_ended: 1,
  // The bus, or the application that was asked, answered while the daemon hung.
  accessibility_unavailable: 0,
  accessibility_timeout: 1,
}

/** A call may find a daemon that hangs, and then one that does not come up. */
const longestMs = 2 * (limits.startTimeoutMs + limits.greetingTimeoutMs)

type Args = Record<string, unknown>

/** Makes a call; gives the code of its failure, `undefined` where it succeeded. */
type Way = (args: Args) => Promise<string | undefined>

/** Processes that serve a socket: the daemon, those that wait to be it, and those that end. */
const servers = (socket: string): readonly number[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const words = /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0') : []
      return words.includes('serve') && words.includes(socket) ? [Number(pid)] : []
    } catch {
      return []
    }
  })

const signal = (pids: readonly number[], name: NodeJS.Signals): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has ended.
    }
  }
}

/** Numbers from 0 to 1 that follow no rule. */
const random = Math.random

/** What happens to the daemon. */
const events = (desktop: TestDesktop, socket: string, other: string) => {
  const flags = ['--socket', socket]
  const quiet = { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', env: desktop.env } as const
  return {
    stopped: async () => void (await desktop.run(driverCommand('stop', ...flags))),
    killed: async () => signal(servers(socket), 'SIGKILL'),
    'replaced by another version': async () => {
      signal(servers(socket), 'SIGTERM')
      await desktop.run([other, 'get_config', '{}', ...flags])
    },
    'started by hand, for a second': async () => {
      const started = Bun.spawn([...driverCommand('serve', ...flags, '--idle-timeout-s', '1')], quiet)
      started.unref()
    },
    'hung for a while': async () => {
      const hung = servers(socket)
      signal(hung, 'SIGSTOP')
      await pause(random() * 7_000)
      signal(hung, 'SIGCONT')
    },
    'hung until it was killed': async () => {
      const hung = servers(socket)
      signal(hung, 'SIGSTOP')
      await pause(random() * 12_000)
      signal(hung, 'SIGKILL')
    },
  } satisfies Record<string, () => Promise<void>>
}

test(`each of ${calls} calls is answered or refused, and none is done twice`, async () => {
  const other = await buildOtherVersion(on().path('other'))
  const socket = on().path('d.sock')
  const counter = await startCounter(on())
  await lookForEffects(on(), 100)
  const target = { pid: counter.pid, window_id: counter.windowId }
  const flags = ['--socket', socket]
  const shell =
    (...[program, ...words]: [string, ...string[]]): Way =>
    async (args) => {
      const { stdout } = await on().run([program, ...words, 'type_text', JSON.stringify(args), ...flags])
      return JSON.parse(stdout).code
    }
  const clients = await Promise.all([
    connect(on(), ...flags),
    connect(on(), ...flags),
    connectTo(on(), [other, 'mcp', ...flags]),
  ])
  const ways: readonly Way[] = [
    ...clients.map(
      (client): Way =>
        async (args) =>
          (await client.call('type_text', args)).structured.code as string | undefined,
    ),
    ...clients.slice(0, 1).map(
      (client): Way =>
        async (args) =>
          (await client.call('type_text', { ...args, session: 'named' })).structured.code as string | undefined,
    ),
    shell(...backlotCommand()),
    shell(...backlotCommand()),
    shell(other),
  ]
  const field = await element(clients[0], target, 'Count')

  const done: { text: string; code: string | undefined; ms: number }[] = []
  let next = 0
  let isOver = false
  const work = async (way: Way) => {
    while (next < calls) {
      const text = `call ${next} `
      next += 1
      const begun = performance.now()
      const code = await way({ ...target, element_token: field.element_token, text })
      done.push({ text, code, ms: performance.now() - begun })
      // Whoever is refused at once would make most of the calls.
      await pause(random() * (code === undefined ? 200 : 1_500))
    }
  }
  const happened = new Map<string, number>()
  const disturb = async () => {
    const kinds = Object.entries(events(on(), socket, other))
    for (let at = 0; !isOver; at += 1) {
      const [name, happen] = kinds[at % kinds.length] as (typeof kinds)[number]
      await pause(random() * 600)
      await happen()
      happened.set(name, (happened.get(name) ?? 0) + 1)
    }
  }
  const disturbing = disturb()
  await Promise.all(ways.map(work))
  isOver = true
  await disturbing

  const counts = new Map<string, number>()
  for (const { text } of counter.journal.entries().filter(({ type }) => type === 'inserted')) {
    counts.set(String(text), (counts.get(String(text)) ?? 0) + 1)
  }
  const wrong = done.filter(({ text, code, ms }) => {
    const times = counts.get(text) ?? 0
    if (ms > longestMs) return true
    return code === undefined ? times !== 1 : times > (refusals[code] ?? -1)
  })
  const codes = Object.entries(Object.groupBy(done, ({ code }) => code ?? 'answered')).map(
    ([code, each]) => `${each?.length} ${code}`,
  )
  const slowest = Math.max(...done.map(({ ms }) => ms))
  console.log(
    `${codes.join(', ')}; the slowest ${Math.round(slowest)} ms; ${[...happened].map(([name, times]) => `${times} times ${name}`).join(', ')}`,
  )
  expect(wrong.map((each) => ({ ...each, times: counts.get(each.text) ?? 0 }))).toEqual([])
  expect(done).toHaveLength(calls)
  // Most were answered, however often there was nobody to answer.
  expect(done.filter(({ code }) => code === undefined).length).toBeGreaterThan(calls / 4)
  // What was done is what was called for: no text came in pieces.
  const called = new Set(done.map(({ text }) => text))
  expect([...counts.keys()].filter((text) => !called.has(text))).toEqual([])
  for (const client of clients) await client[Symbol.asyncDispose]()
  await on().run(driverCommand('stop', ...flags))
  await until('no daemon of the socket to be left', () => servers(socket).length === 0)
})
