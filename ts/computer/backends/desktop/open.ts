/** Opening a file or an address with the application for it. */
import { stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import type { Desktop } from '@backlot/native'
import { resolvePath } from '../../files/path.ts'

/** Programs that know which application opens what, and what they want before it. */
const openers: readonly (readonly [string, ...string[]])[] = [['xdg-open'], ['gio', 'open'], ['exo-open']]

/** Browsers, for an address where no such program is there. */
const browsers = ['x-www-browser', 'firefox-esr', 'firefox', 'chromium', 'google-chrome']

/** Gives the pid of what was started. Throws `file_not_found`, and `missing_program` where nothing is there to open it. */
export const openTarget = async (target: string, desktop: Desktop): Promise<number> => {
  const isAddress = /^[a-z][a-z0-9+.-]+:/i.test(target)
  const what = isAddress ? target : resolvePath(target)
  if (!isAddress && (await stat(what).catch(() => undefined)) === undefined) {
    throw new Failure('file_not_found', `There is nothing at "${what}"; give a path or an address.`, { path: what })
  }
  const opener = openers.find(([program]) => Bun.which(program) !== null)
  if (opener !== undefined) {
    const [name, ...before] = opener
    return desktop.start({ name, additional_arguments: [...before, what] })
  }
  const browser = /^https?:/i.test(what) ? browsers.find((program) => Bun.which(program) !== null) : undefined
  if (browser !== undefined) return desktop.start({ name: browser, additional_arguments: [what] })
  throw new Failure(
    'missing_program',
    `Nothing here knows which application opens "${what}": install xdg-utils, or start one with "launch".`,
    { programs: openers.map(([program]) => program) },
  )
}
