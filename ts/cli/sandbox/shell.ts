/** `backlot sandbox shell`: a terminal in a sandbox, or one command in it. */

import { fstatSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { Failure } from '@backlot/contract/failure'
import { shellText } from '@backlot/contract/text/shell-text'
import type { Sandbox, Terminal } from '@backlot/sdk'
import { printPart, sayPart } from '../terminal/output.ts'
import { reach } from './reach.ts'
import { terminalInput } from './terminal-input.ts'
import { onInterrupt, type Verb } from './verb.ts'

/** Gives the exit status of the shell or the command. */
export const shell: Verb = {
  words: [1, 1],
  takesCommand: true,
  async run({ name, command, where }) {
    if (command === undefined && !(isatty(0) && isatty(1))) {
      throw new Failure('usage', `A shell needs a terminal: run \`backlot sandbox shell ${name} -- COMMAND\` without.`)
    }
    await using sandbox = await reach(name, where)
    // Awaited here: the connection closes when this returns.
    return await (command === undefined ? talk(sandbox) : runOne(sandbox, lineOf(command)))
  },
}

/** One word is a line for the sandbox's shell; several are a program and its arguments, which arrive as they are. */
const lineOf = (words: readonly string[]): string =>
  words.length === 1 ? words.join('') : words.map(shellText).join(' ')

/** Runs a command; signals to this program go to it. */
const runOne = async (sandbox: Sandbox, line: string): Promise<number> => {
  await using running = await sandbox.shell.start(line, hasInput() ? { input: Bun.stdin.stream() } : {})
  using _ = onInterrupt((signal) => void running.kill(signal).catch(() => undefined))
  for await (const { stream, text } of running) await (stream === 'stdout' ? printPart(text) : sayPart(text))
  const { exitCode } = await running.wait()
  // As shells tell of a signal.
  return exitCode < 0 ? 128 - exitCode : exitCode
}

/** Whether standard input is one that ends: a terminal is left alone, a device such as /dev/null is empty. */
const hasInput = (): boolean => {
  const input = fstatSync(0)
  return input.isFIFO() || input.isFile() || input.isSocket()
}

/** Connects this terminal with one in the sandbox until its shell ends. */
const talk = async (sandbox: Sandbox): Promise<number> => {
  const { stdin, stdout } = process
  const env = { TERM: process.env.TERM ?? 'xterm' }
  await using terminal = await sandbox.terminal.create({ cols: stdout.columns, rows: stdout.rows, env })
  let ended: NodeJS.Signals | undefined
  using _ = onInterrupt((signal) => {
    ended = signal
    void terminal.close().catch(() => undefined)
  })
  // Line ends are the sandbox's programs' own here.
  const input = terminalInput(terminal, (line) => void sayPart(`\r\nbacklot: ${line}\r\n`))
  const resize = () => input.resize(stdout.columns, stdout.rows)
  stdin.setEncoding('utf8')
  stdin.setRawMode(true)
  // Raw mode leaves the output's line ends to this terminal, which moves a line feed of the sandbox's programs to column 1.
  Bun.spawnSync(['stty', '-opost'], { stdin: 'inherit', stdout: 'ignore', stderr: 'ignore' })
  stdin.on('data', input.type)
  stdout.on('resize', resize)
  try {
    for await (const text of terminal) await printPart(text)
    return ended === undefined ? await statusOf(terminal) : 128 + constants.signals[ended]
  } finally {
    input.end()
    stdout.off('resize', resize)
    stdin.off('data', input.type)
    stdin.setRawMode(false)
    stdin.pause()
  }
}

/** The exit status of a terminal whose output has ended; 137 for one that was killed. */
const statusOf = async (terminal: Terminal): Promise<number> =>
  (await terminal.close()) ?? 128 + constants.signals.SIGKILL
