/** The desktop of a bench: the native core reads the environment of its process, so the bench runs in one of its own. */
import { type PrivateDesktop, startDesktop } from '@backlot/headless'
import { TestDesktop } from '../../support/desktop.ts'

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
  exited: Promise.withResolvers<never>().promise,
  async [Symbol.asyncDispose]() {},
})
