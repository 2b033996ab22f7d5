/** `backlot demo`: an agent's client drives a real editor on a private desktop, step by step. */
import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { startDesktop } from '@backlot/headless'
import type { Command } from '../command.ts'
import { connectClient } from '../demo/client.ts'
import { driveEditor, editor } from '../demo/editor.ts'
import { Steps } from '../demo/steps.ts'
import { programCalled } from '../executable.ts'
import { readFlags } from '../flags.ts'
import { print, say } from '../output.ts'

export const command: Command = {
  summary: 'Watch an MCP client drive a real editor on a private desktop, or a virtual machine live its life.',
  usage: `backlot demo [--keep DIR]
backlot demo vm

  --keep DIR  Folder for what is left behind; a new one in the temporary folder when absent.

Starts a private desktop, an editor on it and \`backlot mcp\`, and drives the editor with the official MCP client: finds
its window, reads its elements, opens a menu, types, saves, and reads the saved file back. Prints each step with its
milliseconds. Leaves behind screenshot.png, tree.md, calls.jsonl and the document. Exits 1 at the first step that fails.

\`demo vm\` needs no display: it builds linux-minimal if it is missing, starts a VM host of its own and a VM in it, talks to
the guest over HTTP, through its agent and a shared folder, stops it, and does so again with a copy. Nothing is left.`,
  async run(args) {
    const { values, positionals } = readFlags('demo', {
      args: [...args],
      allowPositionals: true,
      options: { keep: { type: 'string' } },
    })
    if (positionals.join(' ') === 'vm') return machines()
    if (positionals.length > 0) throw new Failure('usage', 'Call it as `backlot demo` or `backlot demo vm`.')
    if (Bun.which(editor.program) === null) {
      throw new Failure(
        'missing_program',
        `The demo drives "${editor.program}", not installed here; on Debian and Ubuntu run: apt-get install ${editor.debianPackage}`,
        { programs: [editor.program], packages: [editor.debianPackage] },
      )
    }
    const kept = values.keep === undefined ? mkdtempSync(join(tmpdir(), 'backlot-demo-')) : resolve(values.keep)
    mkdirSync(kept, { recursive: true })
    const steps = new Steps((line) => print(line))
    const stop = new AbortController()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
    try {
      await perform(steps, kept, stop.signal)
    } catch (error) {
      await say(`error: "${steps.current}" failed: ${Failure.from(error).message}`)
      await say(`What was seen until then stands in ${kept}`)
      return 1
    }
    await print(
      `\n${steps.count} steps in ${(steps.totalMs / 1000).toFixed(1)} s. Screenshot, tree, calls and document:\n${kept}`,
    )
    return 0
  },
}

const machines = async (): Promise<number> => {
  const { demonstrateMachines } = await import('../demo/machine.ts')
  const steps = new Steps((line) => print(line))
  const stop = new AbortController()
  // Each time: a second Ctrl+C must not leave a VM behind that nobody stops.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  try {
    await demonstrateMachines(steps, stop.signal)
  } catch (error) {
    await say(`error: "${steps.current}" failed: ${Failure.from(error).message}`)
    return 1
  }
  await print(`\n${steps.count} steps in ${(steps.totalMs / 1000).toFixed(1)} s; nothing of it is left.`)
  return 0
}

const perform = async (steps: Steps, kept: string, signal: AbortSignal): Promise<void> => {
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
