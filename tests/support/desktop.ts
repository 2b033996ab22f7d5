/** A private desktop for one test file, and programs on it. */
import { afterAll, beforeAll } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DesktopOptions, type PrivateDesktop, startDesktop } from '@backlot/headless'
import { backlotCommand, type Finished } from './backlot.ts'

/** Variables by which a machine has programs look or behave otherwise: themes, fonts, cursors, styles, flags. */
const taste =
  /^(?:GTK_THEME|GTK_DATA_PREFIX|GTK2?_RC_FILES|GTK_OVERLAY_SCROLLING|QT_STYLE_OVERRIDE|QT_FONT_DPI|XCURSOR_.*|FONTCONFIG_.*|XFCE_.*|BROWSER|CHROMIUM_(?:USER_)?FLAGS|MOZ_.*|SAL_.*|XENVIRONMENT|XAPPLRESDIR)$/

/** The environment of the tests without what is this machine's own: system-wide settings are looked for in no folder. */
export const plainEnvironment = (): Record<string, string | undefined> => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !taste.test(name))),
  XDG_CONFIG_DIRS: '/nonexistent',
  // No settings of a person are read, or written.
  GSETTINGS_BACKEND: 'memory',
  XENVIRONMENT: join(import.meta.dir, 'fixtures/Xresources'),
})

/** What all that stand for the same desktop share. */
class Shared {
  /** How many paths were named. */
  paths = 0
  /** Where programs keep what they leave behind when they are killed; sockets need its path to be short. */
  readonly temporary = mkdtempSync(join(tmpdir(), 'on-'))

  constructor(desktop: PrivateDesktop) {
    void desktop.exited.then(() => rmSync(this.temporary, { recursive: true, force: true }))
  }
}

/** A desktop in use by tests. */
export class TestDesktop {
  constructor(
    readonly desktop: PrivateDesktop,
    private readonly changes: Readonly<Record<string, string>> = {},
    private readonly shared = new Shared(desktop),
    private readonly runner: readonly string[] = [],
  ) {
    mkdirSync(this.home, { recursive: true })
  }

  /** The same desktop, whose programs get other variables. */
  with(changes: Readonly<Record<string, string>>): TestDesktop {
    return new TestDesktop(this.desktop, { ...this.changes, ...changes }, this.shared, this.runner)
  }

  /** The same desktop, whose programs are started by that command: their own commands are its last words. */
  within(...runner: string[]): TestDesktop {
    return new TestDesktop(this.desktop, this.changes, this.shared, runner)
  }

  /** Home folder of everything on the desktop; goes with it. */
  get home(): string {
    return join(this.desktop.folder, 'home')
  }

  /** Environment of everything on the desktop: configuration, data and sockets are its own too. */
  get env(): Record<string, string> {
    const { BACKLOT_HOME: _, XDG_CONFIG_HOME: __, XDG_DATA_HOME: ___, XDG_STATE_HOME: ____, ...env } = this.desktop.env
    const own = {
      HOME: this.home,
      TMPDIR: this.shared.temporary,
      // The executable unpacks its native core once for all desktops.
      BUN_TMPDIR: tmpdir(),
      XDG_CACHE_HOME: join(this.home, '.cache'),
      BACKLOT_UPDATE_REGISTRY: '',
    }
    return { ...env, ...own, ...this.changes }
  }

  /** A path in the desktop's folder that nothing uses yet. */
  path(name: string): string {
    this.shared.paths += 1
    return join(this.home, `${this.shared.paths}-${name}`)
  }

  /** Starts a program on the desktop, whose output nobody reads; the desktop's end is its end. */
  start(command: readonly [string, ...string[]], env: Record<string, string> = {}): Bun.Subprocess {
    return Bun.spawn([...this.runner, ...command], {
      cwd: this.home,
      env: { ...this.env, ...env },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(this.path('stderr.log')),
    })
  }

  /** Runs a program on the desktop to its end. */
  async run(
    command: readonly [string, ...string[]],
    options: { readonly input?: string; readonly env?: Record<string, string> } = {},
  ): Promise<Finished> {
    const child = Bun.spawn([...command], {
      cwd: this.home,
      env: { ...this.env, ...options.env },
      stdin: new Blob([options.input ?? '']),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { status, stdout, stderr }
  }

  /** Runs the executable under test on the desktop. */
  backlot(words: readonly string[], options: { readonly input?: string; readonly env?: Record<string, string> } = {}) {
    return this.run(backlotCommand(...words), options)
  }
}

/**
 * A desktop of the test file's own: started before its first test, ended after its last and when the test runner dies.
 * What is returned gives the desktop once the tests run.
 */
export const privateDesktop = (options: DesktopOptions = {}): (() => TestDesktop) => {
  let running: TestDesktop | undefined
  beforeAll(async () => {
    running = new TestDesktop(await startDesktop({ environment: plainEnvironment(), ...options }))
  }, 60_000)
  afterAll(async () => {
    await running?.desktop[Symbol.asyncDispose]()
  }, 60_000)
  return () => {
    if (running === undefined) throw new Error('the private desktop is there only while tests run')
    return running
  }
}
