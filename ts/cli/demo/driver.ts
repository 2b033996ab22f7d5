/** The demo of the driver: an agent's client drives a real editor on a private desktop. */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startDesktop } from '@backlot/headless'
import { programCalled } from '../executable.ts'
import { connectClient } from './client.ts'
import { driveEditor, editor } from './editor.ts'
import type { Steps } from './steps.ts'

/** Goes through it and leaves screenshot, tree, calls and document in `folder`. Throws `missing_program` without an editor. */
export const demonstrateDriver = async (steps: Steps, folder: () => string, signal: AbortSignal): Promise<void> => {
  if (Bun.which(editor.program) === null) {
    throw new Failure(
      'missing_program',
      `The demo drives "${editor.program}", not installed here; on Debian and Ubuntu run: apt-get install ${editor.debianPackage}`,
      { programs: [editor.program], packages: [editor.debianPackage] },
    )
  }
  const kept = folder()
  await using desktop = await steps.run('start a private desktop', () => startDesktop({ signal }))
  // The editor's settings and the driver's daemon are the demo's own, and go with the desktop.
  const home = join(desktop.folder, 'home')
  mkdirSync(home)
  // Settings stay in the editor's memory: their service, starting late, would take back what was just chosen.
  const env = { ...desktop.env, HOME: home, GSETTINGS_BACKEND: 'memory' }
  const { command } = programCalled('backlot')
  await using client = await steps.run('connect the MCP client', () =>
    connectClient({ command: [...command, 'mcp'], env, log: join(kept, 'calls.jsonl') }),
  )
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Failure('cancelled', 'The demo was interrupted; run it again.')))
  })
  aborted.catch(() => {})
  const document = join(home, 'letter.txt')
  await Promise.race([driveEditor(steps, client, { document, kept }), aborted])
  copyFileSync(document, join(kept, 'letter.txt'))
}
