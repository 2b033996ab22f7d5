/** A round of the kill test of `backlot desktop`: its parent is killed, and what is left is looked for. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand } from './backlot.ts'
import { leftOf } from './traces.ts'
import { until } from './until.ts'

const variableIn = (exports: string, name: string): string =>
  new RegExp(`^export ${name}='(.*)'$`, 'm').exec(exports)?.[1] ?? ''

/** Starts `backlot desktop` from a shell, with a program on it, kills the shell, and gives what is left once it settles. */
export const killedParent = async (): Promise<string[]> => {
  const scratch = mkdtempSync(join(tmpdir(), 'backlot-parent-'))
  const file = join(scratch, 'exports')
  const command = backlotCommand('desktop')
    .map((word) => `'${word}'`)
    .join(' ')
  const parent = Bun.spawn(['sh', '-c', `${command} >'${file}' & wait`], { stdin: 'ignore', stdout: 'ignore' })
  await until('the exports', () => existsSync(file) && readFileSync(file, 'utf8').includes('BACKLOT_DESKTOP'))
  const exports = readFileSync(file, 'utf8')
  const desktop = {
    folder: join(variableIn(exports, 'XDG_RUNTIME_DIR'), '..'),
    display: variableIn(exports, 'DISPLAY'),
  }
  Bun.spawnSync(['sh', '-c', `. '${file}'; TMPDIR='${scratch}' setsid xterm >/dev/null 2>&1 &`])
  parent.kill('SIGKILL')
  await parent.exited
  const left = await until('the desktop to be gone', () => leftOf(desktop).length === 0 && []).catch(() =>
    leftOf(desktop),
  )
  rmSync(scratch, { recursive: true })
  return left
}
