/** `backlot local confined MARK CONFINEMENT COMMAND...`: what starts a sandbox of the level `landlock`; nobody else calls it. */
import { startXServer } from '@backlot/headless'
import type { Confinement } from '@backlot/local'
import { becomeInLandlock } from '@backlot/native'
import { screenSize } from '../screen-size.ts'

/**
 * Starts the X server and becomes the command, which reaches only what the confinement names; does nothing where its
 * supervisor is dead: who swept up after that one may have looked before the kernel showed this program's arguments.
 */
export const confined = async ([_mark, text = '', program = '', ...words]: readonly string[]): Promise<number> => {
  const { supervisor, runtime, size, folder, variables, readable, writable, ports } = JSON.parse(text) as Confinement
  if (process.ppid !== supervisor) return 1
  await startXServer(runtime, screenSize(size))
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const rules = { readable: [...readable], writable: [...writable], ports: [...ports] }
  becomeInLandlock(rules, program, words, folder, { ...Object.fromEntries(env), ...variables })
  return 0
}
