/** The executable under test, as a person would call it. */
import { join } from 'node:path'

/** The words that call it: the executable that `BACKLOT_BIN` names, or the sources. */
export const backlotCommand = (...words: string[]): [string, ...string[]] => {
  const built = process.env.BACKLOT_BIN
  return built === undefined || built === ''
    ? [process.execPath, join(import.meta.dir, '../../ts/cli/main.ts'), ...words]
    : [built, ...words]
}

/** What a finished call gave. */
export interface Finished {
  readonly stdout: string
  readonly stderr: string
  readonly status: number
}

/** Runs a command to its end, with `env` added to the environment. */
export const runBacklot = async (args: readonly string[], env: Record<string, string> = {}): Promise<Finished> => {
  const child = Bun.spawn(backlotCommand(...args), { env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { stdout, stderr, status: await child.exited }
}
