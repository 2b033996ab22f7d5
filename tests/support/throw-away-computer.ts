/** A computer server that may be built upon: all that is written there is thrown away. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand } from './backlot.ts'
import { plainEnvironment } from './desktop.ts'
import { until } from './until.ts'

/** A running server; disposing of it ends it with all that it started. */
export interface ThrowAwayComputer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
}

/** Starts one with these variables; it asks for the key that `BACKLOT_COMPUTER_KEY` holds. */
export const startThrowAwayComputer = async (
  environment: Readonly<Record<string, string>> = {},
): Promise<ThrowAwayComputer> => {
  const home = await mkdtemp(join(tmpdir(), 'layers-'))
  const { DISPLAY: _, ...plain } = plainEnvironment()
  const apart = join(import.meta.dir, 'apart')
  const child = Bun.spawn([apart, '--host-network', home, ...backlotCommand('computer', '--port', '0')], {
    env: { ...plain, BACKLOT_HOME: home, BUN_TMPDIR: tmpdir(), ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const log = child.stderr.text()
  const url = new TextDecoder().decode((await child.stdout.getReader().read()).value).trim()
  const end = async () => {
    // Its processes are in a namespace of their own and end with its first one.
    child.kill('SIGKILL')
    await child.exited
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
  if (!url.startsWith('http')) {
    await end()
    throw new Error(`the computer server did not start: ${await log}`)
  }
  await until('the computer to be ready', async () => {
    const { phase } = (await (await fetch(`${url}/status`)).json()) as { phase: string }
    return phase === 'ready'
  })
  return { url, [Symbol.asyncDispose]: end }
}
