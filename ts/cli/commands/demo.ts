/** `backlot demo`: a sandbox, the driver, a virtual machine or a computer at work, step by step. */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { Command } from '../command.ts'
import { Steps } from '../demo/steps.ts'
import { nameToSdk } from '../executable.ts'
import { readFlags } from '../flags.ts'
import { print, say } from '../terminal/output.ts'

/** What a demo is played with. */
interface Demo {
  readonly steps: Steps
  readonly signal: AbortSignal
  /** Folder for what is left behind; made when it is first asked for. */
  kept(): string
  /** Waits for Ctrl+C where that was asked for. */
  stay(viewUrl: string): Promise<void>
}

/** Plays one and gives the words that say what was left. */
type PlayDemo = (demo: Demo) => Promise<string>

const plays: Readonly<Record<string, PlayDemo>> = {
  sandbox: async ({ steps, signal, kept, stay }) => {
    nameToSdk()
    const { demonstrateSandbox } = await import('../demo/sandbox.ts')
    const { findPlace } = await import('../demo/sandbox-place.ts')
    const place = await steps.run('find what starts sandboxes here', findPlace)
    signal.throwIfAborted()
    if ('reason' in place) {
      await print(`No sandbox can be started here, so the driver's demo is played, on a desktop that is not isolated.`)
      await print(`The reason: ${place.reason} ${place.remedy}`)
      return playDriver({ steps, signal, kept, stay })
    }
    const folder = kept()
    await demonstrateSandbox(steps, place, { kept: folder, signal, stay, say: print })
    return `Screenshot and tree:\n${folder}`
  },
  driver: (demo) => playDriver(demo),
  computer: async ({ steps, signal, kept, stay }) => {
    const { demonstrateComputer } = await import('../demo/computer.ts')
    await demonstrateComputer(steps, { kept: kept(), signal, stay, say: print })
    return `Screenshot, page and file:\n${kept()}`
  },
  vm: async ({ steps, signal }) => {
    const { demonstrateMachines } = await import('../demo/machine.ts')
    await demonstrateMachines(steps, signal)
    return 'nothing of it is left.'
  },
}

const playDriver: PlayDemo = async ({ steps, signal, kept }) => {
  const { demonstrateDriver } = await import('../demo/driver.ts')
  await demonstrateDriver(steps, kept, signal)
  return `Screenshot, tree, calls and document:\n${kept()}`
}

export const command: Command = {
  summary: 'Watch a sandbox being made and used, or the driver, a virtual machine or a computer at work.',
  usage: `backlot demo [--keep DIR] [--stay]
backlot demo driver [--keep DIR]
backlot demo vm
backlot demo computer [--keep DIR] [--stay]

  --keep DIR  Folder for what is left behind; a new one in the temporary folder when absent.
  --stay      Keep the sandbox or the computer, and its view, until Ctrl+C.

Starts a sandbox with a desktop of its own, on the first runtime that works here (local, else a container engine), prints
the address of its screen, opens an editor in it, reads its elements, clicks and types, saves by the menu and reads the
file back, takes a screenshot, runs a shell command, reaches a web server in it through a tunnel, and destroys it. Where
the sandbox has a root of its own, a package is installed in it first. Prints each step with its milliseconds. Leaves
behind screenshot.png and tree.json. Exits 1 at the first step that fails. Where no sandbox can be isolated it says why and
plays \`demo driver\`.

\`demo driver\` starts a private desktop, an editor on it and \`backlot mcp\`, and drives the editor with the official MCP
client: finds its window, reads its elements, opens a menu, types, saves, and reads the saved file back. Leaves behind
screenshot.png, tree.md, calls.jsonl and the document.

\`demo vm\` needs no display: it builds linux-minimal if it is missing, starts a VM host of its own and a VM in it, talks to
the guest over HTTP, through its agent and a shared folder, stops it, and does so again with a copy. Nothing is left.

\`demo computer\` starts a desktop with the computer server, in a container where an engine has the image of docker/desktop,
else here: types into a terminal, moves a file out and a page in, opens it in the browser and finds it in the tree. Prints
the address of the view. Leaves behind screenshot.png, page.json and from-terminal.txt.`,
  async run(args) {
    const { values, positionals } = readFlags('demo', {
      args: [...args],
      allowPositionals: true,
      options: { keep: { type: 'string' }, stay: { type: 'boolean' } },
    })
    const name = positionals[0] ?? 'sandbox'
    const play = Object.hasOwn(plays, name) && positionals.length < 2 ? plays[name] : undefined
    if (play === undefined) {
      throw new Failure(
        'usage',
        'Call it as `backlot demo`, `backlot demo driver`, `backlot demo vm` or `backlot demo computer`.',
      )
    }
    return perform(play, values.keep, values.stay ?? false)
  },
}

const perform = async (play: PlayDemo, keep: string | undefined, stays: boolean): Promise<number> => {
  const steps = new Steps(print)
  const stop = new AbortController()
  // Each time: a second Ctrl+C must not leave anything behind that nobody ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(interrupted()))
  const stopped = new Promise<void>((settle) => stop.signal.addEventListener('abort', () => settle()))
  let folder: string | undefined
  const kept = () => {
    folder ??= folderFor(keep)
    return folder
  }
  const stay = async (viewUrl: string): Promise<void> => {
    if (!stays) return
    await print(`It stays until Ctrl+C: ${viewUrl}`)
    await stopped
  }
  try {
    const left = await play({ steps, signal: stop.signal, kept, stay })
    const seconds = (steps.totalMs / 1000).toFixed(1)
    await print(`\n${steps.count} steps in ${seconds} s${left.includes('\n') ? '. ' : '; '}${left}`)
    return 0
  } catch (error) {
    if (steps.current === '') throw error
    await say(`error: "${steps.current}" failed: ${Failure.from(error).message}`)
    if (folder !== undefined) await say(`What was seen until then stands in ${folder}`)
    return 1
  }
}

const interrupted = (): Failure => new Failure('cancelled', 'The demo was interrupted; run it again.')

/** The folder for what is left behind. */
const folderFor = (keep: string | undefined): string => {
  const kept = keep === undefined ? mkdtempSync(join(tmpdir(), 'backlot-demo-')) : resolve(keep)
  mkdirSync(kept, { recursive: true })
  return kept
}
