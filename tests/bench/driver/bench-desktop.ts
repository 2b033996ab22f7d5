/** The desktop of a bench: the native core reads the environment of its process, so the bench runs in one of its own. */
import { type PrivateDesktop, startDesktop } from '@backlot/headless'
import { Desktop, type Window } from '@backlot/native'
import { TestDesktop } from '../../support/desktop.ts'
import { until } from '../../support/until.ts'
import { compiledExample } from './example.ts'

const handedOn = 'BACKLOT_BENCH_DESKTOP'

type Facts = Pick<PrivateDesktop, 'display' | 'folder' | 'pids' | 'variables'>

/** Runs `work` on a private desktop: in this process if it was started there, else in another one that is; never twice. */
export const onDesktop = async (script: string, work: (on: TestDesktop) => Promise<void>): Promise<void> => {
  const facts = process.env[handedOn]
  if (facts !== undefined) {
    await work(new TestDesktop(ownedByParent(JSON.parse(facts) as Facts)))
    // The applications that it started would keep this process; they end with the desktop.
    process.exit()
  }
  await using desktop = await startDesktop({ size: { width: 1920, height: 1080 } })
  const { display, folder, pids, variables } = desktop
  const child = Bun.spawn([process.execPath, script, ...process.argv.slice(2)], {
    env: { ...desktop.env, [handedOn]: JSON.stringify({ display, folder, pids, variables }) },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  process.exitCode = await child.exited
}

const ownedByParent = (facts: Facts): PrivateDesktop => ({
  ...facts,
  env: Object.fromEntries(Object.entries(process.env).map(([name, value]) => [name, value ?? ''])),
  vncSocket: undefined,
  exited: Promise.withResolvers<never>().promise,
  start: () => Promise.reject(new Error('the owner of the desktop starts its programs')),
  async [Symbol.asyncDispose]() {},
})

/** What every part of the bench acts on. */
export class BenchDesktop implements Disposable {
  private constructor(
    readonly on: TestDesktop,
    /** A connection to the display. */
    readonly x: Desktop,
  ) {}

  static async open(on: TestDesktop): Promise<BenchDesktop> {
    return new BenchDesktop(on, await Desktop.open(on.desktop.display))
  }

  /** The path of a crate's example program, compiled as the product is. */
  example(crate: string, name: string): Promise<string> {
    return compiledExample(crate, name)
  }

  /** The window that fits, once it is there. */
  windowOf(what: string, fits: (window: Window) => boolean): Promise<Window> {
    return until(`a window of ${what}`, async () => (await this.x.windows()).find(fits))
  }

  /** Ends applications and waits until their windows have gone. */
  async end(...applications: readonly { readonly pid: number }[]): Promise<void> {
    const pids = applications.map(({ pid }) => pid)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await until('the windows to go', async () => (await this.x.windows()).every(({ pid }) => !pids.includes(pid)))
  }

  [Symbol.dispose](): void {
    this.x.close()
  }
}
