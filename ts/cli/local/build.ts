/** `backlot local build`: the root file system that sandboxes of the level `own-root` share. */
import { buildRoot, recipeOf, sandboxesFolder } from '@backlot/local'
import { readFlags } from '../flags.ts'
import { printJson, say } from '../terminal/output.ts'
import { signalled } from './supervise.ts'

/** Builds it where it is not there; gives the exit status. */
export const build = async (args: readonly string[]): Promise<number> => {
  readFlags('local build', { args: [...args], options: {} })
  const ending = new AbortController()
  void signalled(['SIGTERM', 'SIGINT', 'SIGHUP']).then(() => ending.abort())
  const root = await buildRoot({
    base: sandboxesFolder(),
    recipe: recipeOf(),
    onStep: (step) => void say(step.replace(/^I: /, '')),
    signal: ending.signal,
  })
  await printJson(root)
  return 0
}
