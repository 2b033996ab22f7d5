/** A desktop with a computer server, and beside it a server that does nothing. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDesktop } from '@backlot/headless'
import { Capturer, Desktop, enterEnvironment } from '@backlot/native'
import { backlotCommand } from '../../support/backlot.ts'
import { until } from '../../support/until.ts'
import { compiledEmpty, Service } from '../vmhost/server-process.ts'

/** What the parts of the bench measure. */
export interface ComputerSetup extends AsyncDisposable {
  /** The server of this desktop. */
  readonly ours: Service
  readonly empty: Service
  readonly ourCommand: readonly [string, ...string[]]
  readonly emptyCommand: readonly [string, ...string[]]
  /** Home of what is started. */
  readonly home: string
  /** The same display in this process. */
  readonly capturer: Capturer
}

/** Opens it: a terminal with text lies on the screen. */
export const openSetup = async (): Promise<ComputerSetup> => {
  const home = await mkdtemp(join(tmpdir(), 'backlot-bench-'))
  const desktop = await startDesktop()
  enterEnvironment({ ...desktop.variables }, [])
  Object.assign(process.env, desktop.variables)
  const text = join(import.meta.dir, '../../../README.md')
  await desktop.start(['xterm', '-geometry', '180x55+0+0', '-e', 'sh', '-c', `cat '${text}'; exec sleep 1000000`])
  const x = await Desktop.open()
  await until('the terminal', async () => (await x.windows()).length > 0)
  const capturer = await Capturer.open(x)
  const ourCommand = backlotCommand('computer', '--port', '0')
  const emptyCommand = await compiledEmpty(home)
  const ours = await Service.start(ourCommand, home)
  const empty = await Service.start(emptyCommand, home)
  return {
    ours,
    empty,
    ourCommand,
    emptyCommand,
    home,
    capturer,
    async [Symbol.asyncDispose]() {
      await ours[Symbol.asyncDispose]()
      await empty[Symbol.asyncDispose]()
      await capturer.close()
      await x.close()
      await desktop[Symbol.asyncDispose]()
      await rm(home, { recursive: true, force: true })
    },
  }
}
