/** What the demo does with a computer: types into a terminal, moves files in and out, and reads a page of a browser. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { ComputerClient, type Fields } from './computer-client.ts'
import { type DemoComputer, startDemoComputer } from './desktop-computer.ts'
import type { Steps } from './steps.ts'

const words = 'Grüße 世界 😀'
const heading = 'A page on a computer of its own'
const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Backlot</title>
<style>body{font:18px/1.6 sans-serif;max-width:34em;margin:3em auto;color:#2e3440}h1{color:#3b4252}</style>
<h1>${heading}</h1>
<p>This file was moved in over HTTP and opened in the browser of the desktop. What the tree says of it is what a screen reader would read.</p>
<p><button>A button</button> <label><input type="checkbox" checked> a box</label></p></html>
`

/** Milliseconds that a step waits for what it started: browsers start slowly on busy machines. */
const patienceMs = 60_000

/** How the demo is played. */
export interface ComputerDemo {
  /** Folder for `screenshot.png`, `page.json` and `from-terminal.txt`. */
  readonly kept: string
  readonly signal: AbortSignal
  /** Settles when the computer may end, after the last step. */
  stay(viewUrl: string): Promise<void>
  say(line: string): Promise<void>
}

/** Goes through it; the computer ends at its end. */
export const demonstrateComputer = async (steps: Steps, demo: ComputerDemo): Promise<void> => {
  await using computer = await steps.run('start a computer', () => startDemoComputer(demo.say))
  const interrupted = new Promise<never>((_, reject) => {
    const cancel = () => reject(new Failure('cancelled', 'The demo was interrupted; run it again.'))
    demo.signal.addEventListener('abort', cancel)
    if (demo.signal.aborted) cancel()
  })
  interrupted.catch(() => undefined)
  await Promise.race([goThrough(steps, computer, demo), computer.lost, interrupted])
  await demo.stay(computer.viewUrl)
}

/** What each part of the demo plays with. */
interface Played {
  readonly steps: Steps
  readonly client: ComputerClient
  readonly computer: DemoComputer
  readonly demo: ComputerDemo
  /** Settles with what `look` gives once that is something; throws when that takes too long. */
  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T>
}

const goThrough = async (steps: Steps, computer: DemoComputer, demo: ComputerDemo): Promise<void> => {
  const { kept, signal, say } = demo
  const client = new ComputerClient(computer.url, signal)
  const until: Played['until'] = async (what, look) => {
    const deadline = performance.now() + patienceMs
    for (;;) {
      signal.throwIfAborted()
      const seen = await look()
      if (seen !== undefined) return seen
      if (performance.now() > deadline) throw new Failure('internal', `There was no ${what} after ${patienceMs} ms.`)
      await Bun.sleep(20)
    }
  }
  const played = { steps, client, computer, demo, until }
  await steps.run('wait until its desktop can be used', () =>
    until('desktop', async () => {
      const answer = await fetch(`${computer.url}/status`, { signal }).catch(() => undefined)
      return ((await answer?.json()) as Fields | undefined)?.phase === 'ready' ? true : undefined
    }),
  )
  await say(`The view, for a browser: ${computer.viewUrl}`)
  await useTerminal(played)
  await usePage(played)
  await steps.run('photograph the screen', async () => {
    const { image_data } = await client.ask('screenshot')
    writeFileSync(join(kept, 'screenshot.png'), Buffer.from(String(image_data), 'base64'))
  })
}

const titleOf = async (client: ComputerClient) => String((await client.ask('get_active_window_title')).result ?? '')

/** Gives the active window its place and size. */
const place = async (client: ComputerClient, [x, y, width, height]: readonly [number, number, number, number]) => {
  await client.ask('set_window_size', { width, height })
  await client.ask('set_window_position', { x, y })
}

/** Opens a terminal, types a command into it and fetches the file that this wrote. */
const useTerminal = async ({ steps, client, computer, demo: { kept }, until }: Played): Promise<void> => {
  const [terminal, ...args] = computer.terminal
  await steps.run(`open ${terminal}`, async () => {
    const before = await titleOf(client)
    await client.ask('launch', { app: terminal, args })
    await until('window of the terminal', async () => ((await titleOf(client)) === before ? undefined : true))
    await place(client, [40, 40, 640, 420])
  })
  await steps.run('type a command into it', async () => {
    await client.ask('type_text', { text: `echo '${words}' > ~/from-terminal.txt; cat /etc/os-release | head -4` })
    await client.ask('press_key', { key: 'enter' })
  })
  await steps.run('move a file out: what the command wrote', async () => {
    const text = await until('file', async () => {
      const written = await client.get('~/from-terminal.txt')
      return written === `${words}\n` ? written : undefined
    })
    writeFileSync(join(kept, 'from-terminal.txt'), text)
  })
}

/** Opens a page that was moved in and reads its heading out of the accessibility tree. */
const usePage = async ({ steps, client, computer, demo: { kept }, until }: Played): Promise<void> => {
  await steps.run('move a file in: a page', () => client.put('~/page.html', page))
  const [browser, ...flags] = computer.browser
  await steps.run(`open the page in ${browser}`, async () => {
    const { stdout } = await client.ask('run_command', { command: 'echo ~' })
    await client.ask('launch', { app: browser, args: [...flags, `file://${String(stdout).trim()}/page.html`] })
    await until('page', async () => ((await titleOf(client)).includes('Backlot') ? true : undefined))
    await place(client, [480, 170, 740, 540])
  })
  const findHeading = async () => {
    // There is none yet where it fails.
    const found = await client.ask('find_element', { role: 'heading', title: heading }).catch(() => undefined)
    return found?.element
  }
  await steps.run('read the heading out of the accessibility tree', async () => {
    const found = await until('heading', findHeading)
    writeFileSync(join(kept, 'page.json'), `${JSON.stringify(found, null, 2)}\n`)
  })
}
