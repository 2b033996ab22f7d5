import { afterAll, beforeAll, expect, test } from 'bun:test'
import { installApplication, installGtk3 } from '../support/applications.ts'
import { privateDesktop } from '../support/desktop.ts'
import type { Journal } from '../support/journal.ts'
import type { ListedWindow } from '../support/look.ts'
import { connect, type McpClient } from '../support/mcp-client.ts'
import { type Person, seatPerson } from '../support/person.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { displayState } from '../support/witness/index.ts'

const on = privateDesktop()
let client: McpClient
let person: Person
let journal: Journal
let entry: string

beforeAll(async () => {
  journal = installGtk3(on(), 'backlot-fixture')
  entry = installApplication(on(), 'nested/backlot-idle', 'Exec=sleep 1000')
  installApplication(on(), 'backlot-hidden', 'Exec=sleep 1000', 'NoDisplay=true')
  person = await seatPerson(on())
  client = await connect(on())
})

afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
})

interface Launched {
  readonly pid: number
  readonly bundle_id: string
  readonly name: string
  readonly windows: readonly ListedWindow[]
  readonly self_activation_suppressed?: boolean
}

interface ListedApp {
  readonly bundle_id: string
  readonly name: string
  readonly running: boolean
  readonly active: boolean
  readonly pid: number
  readonly launch_path: string | null
  readonly kind: string
  readonly last_used: string | null
}

const launch = (args: Record<string, unknown>) => client.ask<Launched>('launch_app', args)

/** What the application that was launched since `mark` was started with. */
const startedWith = async (mark: number) => {
  const ready = await journal.waitFor('the application', ({ type }) => type === 'ready', mark)
  return ready as typeof ready & {
    pid: number
    window_id: number
    arguments: string[]
    environment: Record<string, string>
  }
}

const apps = async (): Promise<readonly ListedApp[]> => (await client.ask<{ apps: ListedApp[] }>('list_apps')).apps

const appOf = async (id: string) => (await apps()).find(({ bundle_id }) => bundle_id === id)

const end = async (pid: number): Promise<void> => {
  await client.ask('kill_app', { pid })
}

test(
  'an application is launched in the background and described',
  proving(
    [
      'driver.launch-app.background',
      'driver.launch-app.bundle-id',
      'driver.launch-app.result',
      'driver.launch-app.self-activation',
    ],
    async () => {
      const before = await displayState(on())
      const [mark, seen] = [journal.mark(), person.window.journal.mark()]
      const launched = await launch({ bundle_id: 'backlot-fixture', name: 'nothing of that name' })
      const ready = await startedWith(mark)
      expect(launched).toMatchObject({
        pid: ready.pid,
        bundle_id: 'backlot-fixture',
        name: 'backlot-fixture name',
        self_activation_suppressed: true,
      })
      expect(launched.windows).toMatchObject([
        { window_id: ready.window_id, pid: ready.pid, title: 'backlot-fixture window' },
      ])
      const { pointer, focus, active_window } = await displayState(on())
      expect({ pointer, focus, active_window }).toEqual({
        pointer: before.pointer,
        focus: before.focus,
        active_window: before.active_window,
      })
      expect(person.window.journal.entries(seen)).toEqual([])
      await end(ready.pid)
    },
  ),
)

test(
  'a name finds an application, a program, or a path',
  proving(['driver.launch-app.name', 'driver.launch-app.call'], async () => {
    const mark = journal.mark()
    const named = await launch({ name: 'Backlot-Fixture Name' })
    expect(named.pid).toBe((await startedWith(mark)).pid)
    await end(named.pid)
    for (const name of ['xterm', Bun.which('xterm') ?? '']) {
      const { stdout, status } = await on().backlot(['launch_app', JSON.stringify({ name })])
      expect(status).toBe(0)
      const { pid, windows } = JSON.parse(stdout) as Launched
      expect(windows.length).toBe(1)
      await end(pid)
    }
  }),
)

test(
  'urls and arguments are handed on, debugging ports opened',
  proving(
    [
      'driver.launch-app.urls',
      'driver.launch-app.additional-arguments',
      'driver.launch-app.electron-debugging-port',
      'driver.launch-app.webkit-inspector-port',
    ],
    async () => {
      const mark = journal.mark()
      const { pid } = await launch({
        bundle_id: 'backlot-fixture',
        urls: ['https://example.org/a b', '/tmp/file with blanks.txt'],
        additional_arguments: ['--first', 'two words', '$HOME'],
        electron_debugging_port: 9333,
        webkit_inspector_port: 9444,
      })
      const ready = await startedWith(mark)
      expect(ready.arguments).toContain('https://example.org/a b')
      expect(
        ready.arguments.some(
          (word) => word.endsWith('/tmp/file with blanks.txt') || word.endsWith('/tmp/file%20with%20blanks.txt'),
        ),
      ).toBe(true)
      expect(ready.arguments).toContain('--remote-debugging-port=9333')
      const first = ready.arguments.indexOf('--first')
      expect(ready.arguments.slice(first, first + 3)).toEqual(['--first', 'two words', '$HOME'])
      expect(ready.environment).toMatchObject({
        WEBKIT_INSPECTOR_SERVER: '127.0.0.1:9444',
        TAURI_WEBVIEW_AUTOMATION: '1',
      })
      await end(pid)
    },
  ),
)

test(
  'a new instance is another process',
  proving(['driver.launch-app.new-instance'], async () => {
    const one = await launch({ bundle_id: 'backlot-fixture' })
    const two = await launch({ bundle_id: 'backlot-fixture', creates_new_application_instance: true })
    expect(two.pid).not.toBe(one.pid)
    expect(two.windows.map(({ window_id }) => window_id)).not.toContain(one.windows[0]?.window_id)
    await end(one.pid)
    await end(two.pid)
  }),
)

test(
  'running and installed applications are listed, and no helpers',
  proving(
    [
      'driver.list-apps.call',
      'driver.list-apps.running-and-installed',
      'driver.list-apps.regular-only',
      'driver.list-apps.folders',
    ],
    async () => {
      expect(await appOf('backlot-fixture')).toMatchObject({ running: false, pid: 0, active: false })
      expect(await appOf('nested-backlot-idle')).toMatchObject({ running: false, launch_path: entry })
      expect((await apps()).filter((app) => app.launch_path?.startsWith('/usr/share/applications/'))).not.toBeEmpty()
      const { pid } = await launch({ bundle_id: 'backlot-fixture' })
      expect(await appOf('backlot-fixture')).toMatchObject({ running: true, pid })
      const listed = await apps()
      expect(listed.map(({ bundle_id }) => bundle_id)).not.toContain('backlot-hidden')
      const helpers = Object.values(on().desktop.pids)
      expect(listed.filter((app) => helpers.includes(app.pid))).toEqual([])
      const shell = await on().backlot(['list_apps'], { input: '{}' })
      expect((JSON.parse(shell.stdout).apps as ListedApp[]).map(({ bundle_id }) => bundle_id)).toEqual(
        listed.map(({ bundle_id }) => bundle_id),
      )
      await end(pid)
    },
  ),
)

test(
  'an application has its name, kind, place and time',
  proving(
    ['driver.app.identity', 'driver.app.kind', 'driver.app.launch-path', 'driver.app.last-used', 'driver.app.pid'],
    async () => {
      const app = await appOf('nested-backlot-idle')
      expect(app).toMatchObject({ name: 'backlot-idle name', kind: 'desktop', launch_path: entry, pid: 0 })
      const { launch_path } = (await appOf('backlot-fixture')) ?? {}
      const mark = journal.mark()
      await launch({ name: launch_path })
      await end((await startedWith(mark)).pid)
      expect(app?.last_used ?? '').toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/)
      for (const { running, pid, kind, last_used } of await apps()) {
        expect(pid > 0).toBe(running)
        expect(kind).toBeString()
        if (last_used !== null) expect(Number.isNaN(Date.parse(last_used))).toBe(false)
      }
    },
  ),
)

test(
  'the application in front is active',
  proving(['driver.app.active', 'driver.app.running'], async () => {
    const { pid, windows } = await launch({ bundle_id: 'backlot-fixture' })
    expect(await appOf('backlot-fixture')).toMatchObject({ running: true, active: false })
    await on().run(['xdotool', 'windowactivate', '--sync', String(windows[0]?.window_id)])
    expect(await until('the application in front', async () => (await appOf('backlot-fixture'))?.active)).toBe(true)
    await end(pid)
  }),
)

test(
  'a process is ended by force, in both forms',
  proving(['driver.kill-app.call', 'driver.kill-app.pid-required'], async () => {
    for (const kill of [
      (pid: number) => client.ask('kill_app', { pid }),
      (pid: number) => on().backlot(['kill_app', JSON.stringify({ pid })]),
    ]) {
      const stubborn = on().start(['sh', '-c', "trap '' TERM HUP INT; while :; do sleep 1; done"])
      await kill(stubborn.pid)
      expect(await stubborn.exited).not.toBe(0)
      expect(stubborn.signalCode).toBe('SIGKILL')
    }
    expect((await client.call('kill_app')).structured.code).toBe('missing_argument')
  }),
)
