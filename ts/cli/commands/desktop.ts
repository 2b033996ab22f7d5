/** `backlot desktop`: a private desktop, for one command or until it is interrupted. */
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { Failure } from '@backlot/contract/failure'
import { privateDesktop } from '@backlot/contract/limits'
import { shellText } from '@backlot/contract/text/shell-text'
import {
  desktopLost,
  foreignVariables,
  type PrivateDesktop,
  startDesktop,
  type WindowManagerName,
  whenParentEnds,
  windowManagerNames,
} from '@backlot/headless'
import type { Command } from '../command.ts'
import { readFlags } from '../flags.ts'
import { screenSize } from '../screen-size.ts'
import { print, say } from '../terminal/output.ts'

const { width, height } = privateDesktop.size

export const command: Command = {
  summary: 'Start a private desktop, for one command or until interrupted.',
  usage: `backlot desktop [--size WxH] [--glx] [--window-manager NAME] [--outlive-parent] [-- COMMAND [ARGUMENT…]]

  --size WxH        Pixels of the screen; ${width}x${height} when absent.
  --glx             Offer OpenGL, which takes 45 MB more.
  --window-manager  ${windowManagerNames.join(', ')}; ${windowManagerNames[0]} when absent.
  --outlive-parent  Stay when the process that started this one ends.

An X server, a window manager, a session bus and the accessibility bus, reachable by nobody else's programs.
Without COMMAND it prints what a shell evaluates to use the desktop (export NAME='value', unset NAME) and stays until
it gets SIGINT, SIGTERM or SIGHUP, or its parent ends. With COMMAND it runs that on the desktop, hands signals on to it,
and ends with its exit status, 128 + N where signal N ended it, 127 where there is no such program.
Every program that has the desktop's variables ends with it, as does all that COMMAND starts, and nothing of it stays,
however it ends. When one of its parts ends by itself, the desktop ends and says which.`,
  async run(args) {
    const separator = args.indexOf('--')
    const [own, words] = separator === -1 ? [args, []] : [args.slice(0, separator), args.slice(separator + 1)]
    const { values } = readFlags('desktop', {
      args: [...own],
      options: {
        size: { type: 'string' },
        glx: { type: 'boolean' },
        'window-manager': { type: 'string' },
        'outlive-parent': { type: 'boolean' },
      },
    })
    const size = screenSize(values.size)
    const windowManager = readManager(values['window-manager'])
    const [program, ...rest] = words
    if (separator !== -1 && program === undefined) {
      throw new Failure('usage', 'No command follows "--". `backlot desktop --help` shows what it takes.')
    }
    if (program !== undefined && Bun.which(program) === null) {
      await say(`error: There is no program "${program}". Name one that is on PATH, or give its path.`)
      return 127
    }
    const stop = new AbortController()
    const signals = new Signals()
    const parentEnded = values['outlive-parent'] ? new Promise<never>(() => {}) : whenParentEnds()
    const over = Promise.race([signals.first, parentEnded.then(() => null)])
    const abort = () => stop.abort()
    void over.then(abort, abort)
    let desktop: PrivateDesktop
    try {
      desktop = await startDesktop({
        size,
        glx: values.glx ?? false,
        ...(windowManager && { windowManager }),
        signal: stop.signal,
      })
    } catch (error) {
      if (stop.signal.aborted) return program === undefined ? 0 : statusOf(await over)
      throw error
    }
    const status =
      program === undefined ? await stay(desktop, over) : await runOn(desktop, [program, ...rest], signals, parentEnded)
    await desktop[Symbol.asyncDispose]()
    const end = await desktop.exited
    if (end.part === null) return status
    throw desktopLost(end)
  },
}

/** Signals that end the desktop or are handed on to its command. */
const handled = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const
type Handled = (typeof handled)[number]

class Signals {
  /** Settles with the first that comes. */
  readonly first: Promise<Handled>
  /** Called with each that comes. */
  handOn: (signal: Handled) => void = () => {}

  constructor() {
    this.first = new Promise((settle) => {
      for (const signal of handled) {
        process.on(signal, () => {
          settle(signal)
          this.handOn(signal)
        })
      }
    })
  }
}

/** Exit status for a signal, as a shell gives it; null is the end of the parent, which leaves nobody to read it. */
const statusOf = (signal: Handled | null): number => (signal === null ? 1 : 128 + constants.signals[signal])

const stay = async (desktop: PrivateDesktop, over: Promise<unknown>): Promise<number> => {
  const inherited = foreignVariables(process.env).filter((name) => !Object.hasOwn(desktop.variables, name))
  const exports = Object.entries(desktop.variables).map(([name, value]) => `export ${name}=${shellText(value)}`)
  await print([...exports, ...inherited.map((name) => `unset ${name}`)].join('\n'))
  await Promise.race([over, desktop.exited])
  return 0
}

const runOn = async (
  desktop: PrivateDesktop,
  command: readonly [string, ...string[]],
  signals: Signals,
  parentEnded: Promise<void>,
): Promise<number> => {
  const starting = desktop.start(command)
  // A terminal gives its own signals to the whole foreground, the command included.
  const fromTerminal: readonly Handled[] = isatty(0) ? ['SIGINT', 'SIGQUIT'] : []
  signals.handOn = (signal) => {
    if (!fromTerminal.includes(signal)) void starting.then((program) => program.kill(signal))
  }
  const { exited } = await starting
  const ended = await Promise.race([exited, parentEnded, desktop.exited])
  return typeof ended === 'number' ? ended : statusOf(null)
}

const readManager = (text: string | undefined): WindowManagerName | undefined => {
  const known = windowManagerNames.find((name) => name === text)
  if (text === undefined || known !== undefined) return known
  throw new Failure(
    'invalid_argument',
    `--window-manager is "${text}"; it takes one of ${windowManagerNames.join(', ')}.`,
    { argument: 'window-manager' },
  )
}
