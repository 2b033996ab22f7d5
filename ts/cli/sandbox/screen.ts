/** `backlot sandbox view`, `connect` and `screenshot`: ways to see a sandbox and to reach it. */
import { isatty } from 'node:tty'

import { print, printJson, printPart, say } from '../terminal/output.ts'
import { reach } from './reach.ts'
import type { Verb } from './verb.ts'

/** Prints the address of the live screen, and opens it where there is a browser. */
export const view: Verb = {
  words: [1, 1],
  flags: ['no-open', 'json'],
  async run({ name, where, json, flags }) {
    await using sandbox = await reach(name, where)
    const url = await sandbox.getDisplayUrl()
    await (json ? printJson({ name, url }) : print(url))
    const opener = flags['no-open'] || !isatty(1) ? undefined : openerHere()
    if (opener === undefined) return
    // A link may work once alone: the browser has it now.
    await say('Opened in a browser.')
    Bun.spawn([opener, url], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore', detached: true }).unref()
  },
}

/** The program that opens addresses for the person; undefined where none could show a page. */
const openerHere = (): string | undefined => {
  if (process.platform === 'darwin') return 'open'
  const hasScreen = Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY)
  return hasScreen && Bun.which('xdg-open') !== null ? 'xdg-open' : undefined
}

/** Connects, and prints how agents and programs reach it; whoever has its headers may do all in it. */
export const connect: Verb = {
  words: [1, 1],
  flags: ['json'],
  async run({ name, where, json }) {
    await using sandbox = await reach(name, where)
    const { width, height } = await sandbox.getDimensions()
    const { url, headers } = await sandbox.getMcpServer()
    if (json) return printJson({ name, source: sandbox.source, width, height, mcp: { url, headers } })
    await print(`${name} answers, with a screen of ${width}x${height}.`)
    await print(`MCP:  ${url}`)
    for (const [header, value] of Object.entries(headers)) await print(`      ${header}: ${value}`)
  },
}

/** Writes a picture of the screen, PNG, into a file or to standard output. */
export const screenshot: Verb = {
  words: [1, 2],
  async run({ name, file, where }) {
    await using sandbox = await reach(name, where)
    const path = file ?? (isatty(1) ? `${name}.png` : '-')
    if (path === '-') return printPart(await sandbox.screenshot())
    await sandbox.screenshot({ path })
    await say(`Written to ${path}`)
  },
}
