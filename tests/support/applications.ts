/** Real applications for the tests, each of which journals what happens to it and is ready when its start settles. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { TestDesktop } from './desktop.ts'
import { type Entry, Journal } from './journal.ts'
import { removeSockets } from './office.ts'
import { until } from './until.ts'

const fixtures = join(import.meta.dir, 'fixtures')

/** Debian's Python: the toolkit bindings belong to it and to no other. */
export const python = '/usr/bin/python3'

/** A running application. */
export interface Application {
  readonly pid: number
  /** XID of its window. */
  readonly windowId: number
  readonly title: string
  readonly journal: Journal
}

/** True for what a program says when it is ready: the one of that name where there are several. */
const isReady = (program?: string) => (entry: Entry) =>
  entry.type === 'ready' && (program === undefined || entry.program === program)

/** Whether the window manager has the window in its list; undefined where there is no list, as without one. */
const isManaged = async (on: TestDesktop, windowId: number): Promise<boolean | undefined> => {
  const { stdout } = await on.run(['xprop', '-root', '_NET_CLIENT_LIST'])
  return stdout.includes('#') ? new RegExp(`\\b0x${windowId.toString(16)}\\b`).test(stdout) : undefined
}

const started = async (on: TestDesktop, title: string, journal: Journal, program?: string): Promise<Application> => {
  const ready = await journal.waitFor(`"${title}" to be ready`, isReady(program))
  const windowId = Number(ready.window_id)
  await until(`the window manager to know "${title}"`, async () => (await isManaged(on, windowId)) !== false)
  return { pid: Number(ready.pid), windowId, title, journal }
}

/**
 * Ends an application and waits until the window manager has noticed: what starts next may get the ids of its windows,
 * and one that is behind takes them for those that ended.
 */
export const endApplication = async (on: TestDesktop, { pid, windowId, title }: Application): Promise<void> => {
  process.kill(pid)
  await until(`the window manager to know of the end of "${title}"`, async () => !(await isManaged(on, windowId)))
}

/** Installs the GTK 3 application for the desktop's user; what it is started with stands in its `ready` entry. */
export const installGtk3 = (on: TestDesktop, id: string, ...lines: string[]): Journal => {
  const file = on.path(`${id}.jsonl`)
  // The window's class is the program's name, by which the running application is known.
  const program = join(on.path('program'), id)
  mkdirSync(dirname(program))
  copyFileSync(join(fixtures, 'gtk3.py'), program)
  const command = [python, program, file, `${id} window`, '300x300+700+400', 'controls']
  const exec = `Exec=${command.map((word) => `"${word}"`).join(' ')} %U`
  installApplication(on, id, exec, `StartupWMClass=${id}`, ...lines)
  return Journal.inFile(file)
}

/** Writes a desktop entry for the desktop's user, named after its id, which may lead into a subfolder. */
export const installApplication = (on: TestDesktop, id: string, ...lines: string[]): string => {
  const file = join(on.home, '.local/share/applications', `${id}.desktop`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, ['[Desktop Entry]', 'Type=Application', `Name=${basename(id)} name`, ...lines, ''].join('\n'))
  return file
}

/** `WxH+X+Y`. */
export type Geometry = `${number}x${number}+${number}+${number}`

/** Starts the GTK 3 application: `controls` has one of each common control, `login` a password field, `person` one focused text field. */
export const startGtk3 = (
  on: TestDesktop,
  kind: 'controls' | 'login' | 'person',
  options: { readonly title?: string; readonly geometry?: Geometry; readonly blinking?: boolean } = {},
): Promise<Application> => {
  const title = options.title ?? `Backlot ${kind}`
  const file = on.path(`${kind}.jsonl`)
  const flags = options.blinking ? ['blinking'] : []
  on.start([python, join(fixtures, 'gtk3.py'), file, title, options.geometry ?? '420x480+100+100', kind, ...flags])
  return started(on, title, Journal.inFile(file))
}

/** Starts the GTK 3 application whose one element, `Banner`, offers that action and does nothing but journal it. */
export const startBanner = (on: TestDesktop, action: 'cancel' | 'open'): Promise<Application> => {
  const title = `Backlot banner to ${action}`
  const file = on.path('banner.jsonl')
  on.start([python, join(fixtures, 'gtk3_banner.py'), file, title, action])
  return started(on, title, Journal.inFile(file))
}

/** Starts the GTK 3 application whose one field journals every text that is put into it, and is emptied now and then. */
export const startCounter = (on: TestDesktop): Promise<Application> => {
  const title = 'Backlot counter'
  const file = on.path('counter.jsonl')
  on.start([python, join(fixtures, 'gtk3_counter.py'), file, title])
  return started(on, title, Journal.inFile(file))
}

/** Two programs of which one shows the other in its window. */
export interface Embedding {
  readonly name: string
  readonly pid: number
  readonly windowId: number
  /** Process of the program inside. */
  readonly insidePid: number
  /** What both say: each entry with the `program` that wrote it, `NAME` or `NAME inside`. */
  readonly journal: Journal
}

/**
 * Starts a GTK 3 window in which a program of its own shows the same widgets once more: it is `added` to the window, or
 * `made` inside of it.
 */
export const startEmbedding = async (on: TestDesktop, name: string, how: 'added' | 'made'): Promise<Embedding> => {
  const file = on.path(`${name}.jsonl`)
  on.start([python, join(fixtures, 'embedded.py'), file, name, `Backlot ${name}`, how])
  const journal = Journal.inFile(file)
  const { pid, windowId } = await started(on, `Backlot ${name}`, journal, name)
  const inside = await journal.waitFor('the program inside', isReady(`${name} inside`))
  return { name, pid, windowId, insidePid: Number(inside.pid), journal }
}

/** Starts the GTK 3 application of nested, disabled, checked and equally named menu items. */
export const startMenus = (on: TestDesktop): Promise<Application> => {
  const title = 'Backlot menus'
  const file = on.path('menus.jsonl')
  on.start([python, join(fixtures, 'gtk3_menus.py'), file, title])
  return started(on, title, Journal.inFile(file))
}

/**
 * Starts an xterm whose program journals the bytes it reads as entries `{ type: 'input', bytes }`, in hexadecimal;
 * with `mouse` also the reports of what the pointer does.
 */
export const startXterm = (
  on: TestDesktop,
  options: { readonly title?: string; readonly mouse?: boolean } = {},
): Promise<Application> => {
  const title = options.title ?? 'Backlot terminal'
  const file = on.path('terminal.jsonl')
  const program = [python, join(fixtures, 'terminal.py'), file, ...(options.mouse ? ['mouse'] : [])]
  on.start(['xterm', '-u8', '-T', title, '-geometry', '60x12+60+60', '-e', ...program])
  return started(on, title, Journal.inFile(file))
}

/** The bytes that a terminal's program has read after `since`. */
export const typedInto = (application: Application, since = 0): Buffer =>
  Buffer.concat(
    application.journal
      .entries(since)
      .filter((entry) => entry.type === 'input')
      .map((entry) => Buffer.from(String(entry.bytes), 'hex')),
  )

/** A running browser on the journalling page; it ends with the desktop, its server when disposed of. */
export interface Browser extends AsyncDisposable {
  readonly pid: number
  readonly title: string
  readonly journal: Journal
}

/** Starts the GTK 4 application, which has one of each common control; the window manager says where. */
export const startGtk4 = (on: TestDesktop, options: { readonly title?: string } = {}): Promise<Application> => {
  const title = options.title ?? 'Backlot GTK 4'
  const file = on.path('gtk4.jsonl')
  on.start([python, join(fixtures, 'gtk4.py'), file, title, '420x560'])
  return started(on, title, Journal.inFile(file))
}

/** Starts the GTK 4 window of closed lists to choose from. */
export const startGtk4Choices = (on: TestDesktop, title = 'Backlot choices'): Promise<Application> => {
  const file = on.path('gtk4-choices.jsonl')
  on.start([python, join(fixtures, 'gtk4-choices.py'), file, title])
  return started(on, title, Journal.inFile(file))
}

/** Starts the Qt application in version 5 or 6, which has one of each common control. */
export const startQt = (
  on: TestDesktop,
  major: 5 | 6,
  options: { readonly title?: string; readonly geometry?: Geometry } = {},
): Promise<Application> => {
  const title = options.title ?? `Backlot Qt ${major}`
  const file = on.path(`qt${major}.jsonl`)
  on.start([python, join(fixtures, 'qt.py'), String(major), file, title, options.geometry ?? '420x600+100+100'])
  return started(on, title, Journal.inFile(file))
}

/** Starts the Qt application of three tabs, `Harbour`, `Lighthouse` and `Ferry`. */
export const startTabs = (on: TestDesktop, major: 5 | 6): Promise<Application> => {
  const title = `Backlot tabs of Qt ${major}`
  const file = on.path(`tabs-of-qt${major}.jsonl`)
  on.start([python, join(fixtures, 'qt_tabs.py'), String(major), file, title])
  return started(on, title, Journal.inFile(file))
}

/** Toolkits in which an application is made whose buttons take their time. */
export const lateToolkits = ['gtk3', 'gtk4', 'qt5', 'qt6'] as const

/**
 * Starts the application whose buttons act at once, later, after they have fetched the address, by an animation, or not at
 * all; a `chatty` one shows the time by itself as well.
 */
export const startLate = (
  on: TestDesktop,
  toolkit: (typeof lateToolkits)[number],
  address: string,
  options: { readonly title?: string; readonly chatty?: boolean } = {},
): Promise<Application> => {
  const title = options.title ?? `Backlot late ${toolkit}`
  const file = on.path(`${title.replaceAll(' ', '-')}.jsonl`)
  on.start([python, join(fixtures, 'late.py'), toolkit, file, title, address, ...(options.chatty ? ['chatty'] : [])])
  return started(on, title, Journal.inFile(file))
}

/** Starts a window that shows a small part of what it holds. */
export const startLong = (
  on: TestDesktop,
  kind: 'gtk3-list' | 'gtk3-tree' | 'gtk3-form' | 'qt5-table' | 'qt6-table',
  rows = 500,
): Promise<Application> => {
  const title = `Backlot long ${kind}`
  const file = on.path(`${kind}.jsonl`)
  on.start([python, join(fixtures, 'long.py'), kind, file, title, String(rows)])
  return started(on, title, Journal.inFile(file))
}

/** Starts the application whose buttons and keys open dialogs. */
export const startDialogs = (on: TestDesktop, toolkit: 'gtk3' | 'qt5' | 'qt6'): Promise<Application> => {
  const title = `Backlot dialogs of ${toolkit}`
  const file = on.path(`dialogs-${toolkit}.jsonl`)
  on.start([python, join(fixtures, 'dialogs.py'), toolkit, file, title])
  return started(on, title, Journal.inFile(file))
}

/** Starts LibreOffice Calc on an empty sheet; its journal has the keys and presses of the sheet and changed cells. */
export const startCalc = async (on: TestDesktop): Promise<Application> => {
  const file = on.path('calc.jsonl')
  on.start([python, join(fixtures, 'calc.py'), file, on.path('libreoffice-profile')])
  const calc = await started(on, 'Untitled 1 - LibreOffice Calc', Journal.inFile(file))
  removeSockets(calc.pid)
  return calc
}

/** Starts a GTK 3 window whose page WebKit draws in a process of its own; the page journals its events. */
export const startWebView = (on: TestDesktop): Promise<Application> => {
  const title = 'Backlot web view'
  const file = on.path('webview.jsonl')
  // Its sandbox needs namespaces, and its compositor a graphics card.
  const env = { WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', WEBKIT_DISABLE_COMPOSITING_MODE: '1' }
  on.start([python, join(fixtures, 'webview.py'), file, title], env)
  return started(on, title, Journal.inFile(file))
}

/** Flags that a Chromium for tests needs; as root it has no sandbox. */
export const chromiumFlags = (profile: string): string[] => [
  ...(process.getuid?.() === 0 ? ['--no-sandbox', '--test-type'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--password-store=basic',
  '--force-renderer-accessibility',
  `--user-data-dir=${profile}`,
]

/** A server of the journalling page, whose address is the browser's start page. */
const servePage = async (fixture: string, content: (html: string) => string) => {
  const page = content(await Bun.file(join(fixtures, fixture)).text())
  const entries: Entry[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request, serving) {
      if (new URL(request.url).pathname === '/journal' && serving.upgrade(request)) return undefined
      return new Response(page, { headers: { 'content-type': 'text/html' } })
    },
    websocket: {
      message(_, text) {
        entries.push(JSON.parse(String(text)) as Entry)
      },
    },
  })
  return { server, journal: new Journal(() => entries) }
}

/** What a browser for tests is started with. */
export interface BrowserOptions {
  /** Which page of the fixtures; the one with common controls when absent. */
  readonly page?: 'page.html' | 'order.html' | 'late.html'
  /** May change the page's text. */
  readonly content?: (html: string) => string
  /** Flags of the browser's own. */
  readonly flags?: readonly string[]
}

const titles = { 'page.html': 'Backlot page', 'order.html': 'Backlot order', 'late.html': 'Backlot late' }

const browse = async (
  on: TestDesktop,
  command: (address: string) => [string, ...string[]],
  { page = 'page.html', content = (html) => html }: BrowserOptions,
): Promise<Browser> => {
  const { server, journal } = await servePage(page, content)
  const child = on.start(command(`${server.url}`))
  await journal.waitFor('the page in the browser', (entry) => entry.type === 'ready')
  return {
    pid: child.pid,
    title: titles[page],
    journal,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
      await server.stop(true)
    },
  }
}

/** Starts Chromium on a page with common controls, served to it alone, which journals each event with `isTrusted`. */
export const startChromium = (on: TestDesktop, options: BrowserOptions = {}): Promise<Browser> => {
  const flags = [...chromiumFlags(on.path('chromium-profile')), ...(options.flags ?? [])]
  const place = ['--window-size=900,700', '--window-position=60,40']
  return browse(on, (address) => ['chromium', ...flags, ...place, address], options)
}

/** Preferences of a Firefox for tests: nothing asks, nothing calls out. */
const firefoxPreferences = {
  'accessibility.force_disabled': -1,
  'app.normandy.enabled': false,
  'app.update.enabled': false,
  'browser.aboutwelcome.enabled': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'trailhead.firstrun.didSeeAboutWelcome': true,
}

/** Makes the profile of a Firefox for tests, and gives the flags that it is started with. */
export const firefoxFlags = (profile: string): string[] => {
  mkdirSync(profile, { recursive: true })
  const lines = Object.entries(firefoxPreferences).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
  )
  writeFileSync(join(profile, 'user.js'), lines.join(''))
  return ['--no-remote', '--profile', profile, '--width', '900', '--height', '700']
}

/** Starts Firefox on the same page. */
export const startFirefox = (on: TestDesktop, options: BrowserOptions = {}): Promise<Browser> => {
  const flags = [...firefoxFlags(on.path('firefox-profile')), ...(options.flags ?? [])]
  return browse(on, (address) => ['firefox-esr', ...flags, address], options)
}
