/** The executable under test under its second name, `backlot-driver`, and the raw lines of its edges. */
import { dirname, join } from 'node:path'
import { defaultSocket } from '@backlot/driver/edges/address'
import { LineReader } from '@backlot/driver/edges/lines'
import type { TestDesktop } from './desktop.ts'

/** The words that start it: the one beside the executable in `BACKLOT_BIN`, or the sources. */
export const driverCommand = (...words: string[]): [string, ...string[]] => {
  const built = process.env.BACKLOT_BIN
  return built === undefined || built === ''
    ? [process.execPath, join(import.meta.dir, '../../ts/cli/backlot-driver.ts'), ...words]
    : [join(dirname(built), 'backlot-driver'), ...words]
}

/** Says how many milliseconds actions on a desktop look for their effect. */
export const lookForEffects = async (on: TestDesktop, ms: number): Promise<void> => {
  const { status, stderr } = await on.run(driverCommand('config', 'set', 'evidence_timeout_ms', String(ms)))
  if (status !== 0) throw new Error(stderr)
}

/** Where the daemon of a desktop listens. */
export const socketOf = (on: TestDesktop): string => defaultSocket(on.env)

/** One line that came back, parsed. */
export type Message = Record<string, unknown> & { readonly id?: string | number | null }

/** Lines to a server and back. */
export interface Lines extends AsyncDisposable {
  /** Sends bytes as they are. */
  write(bytes: string | Uint8Array): void
  /** Sends a value as one line of JSON. */
  send(value: unknown): void
  /** The next line that comes. */
  next(): Promise<Message>
  /** Nothing more will be sent. */
  end(): void
  /** The other side has hung up. */
  readonly closed: Promise<unknown>
}

/** Lines in the order they came, for whoever asks for the next one. */
class Inbox {
  readonly #lines: Message[] = []
  readonly #asking: ((message: Message) => void)[] = []
  readonly reader = new LineReader(1 << 30, (line) => {
    if (!('text' in line)) throw new Error(`a line that cannot be read: ${line.problem}`)
    const message = JSON.parse(line.text) as Message
    const ask = this.#asking.shift()
    if (ask === undefined) this.#lines.push(message)
    else ask(message)
  })

  next(): Promise<Message> {
    const line = this.#lines.shift()
    if (line !== undefined) return Promise.resolve(line)
    return new Promise((settle) => this.#asking.push(settle))
  }
}

/** A plain client of a daemon's socket. */
export const openSocket = async (path: string): Promise<Lines & { terminate(): void }> => {
  const inbox = new Inbox()
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  let waiting = Buffer.alloc(0)
  const flush = () => {
    const written = socket.write(waiting)
    waiting = waiting.subarray(Math.max(0, written))
  }
  const socket = await Bun.connect({
    unix: path,
    allowHalfOpen: true,
    socket: {
      data: (_, bytes) => inbox.reader.push(bytes),
      drain: flush,
      end: (it) => void it.end(),
      close: () => resolve(),
    },
  })
  const write = (bytes: string | Uint8Array) => {
    waiting = Buffer.concat([waiting, Buffer.from(bytes as string)])
    flush()
  }
  return {
    write,
    send: (value) => write(`${JSON.stringify(value)}\n`),
    next: () => inbox.next(),
    end: () => void socket.shutdown(),
    terminate: () => socket.terminate(),
    closed,
    async [Symbol.asyncDispose]() {
      socket.terminate()
    },
  }
}

/** A plain client of a program's standard input and output. */
export const openStdio = (
  on: TestDesktop,
  command: readonly [string, ...string[]],
  env: Readonly<Record<string, string>> = {},
): Lines & { readonly process: Bun.Subprocess } => {
  const child = Bun.spawn([...command], {
    cwd: on.home,
    env: { ...on.env, ...env },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const inbox = new Inbox()
  const reading = (async () => {
    for await (const bytes of child.stdout) inbox.reader.push(bytes)
  })()
  return {
    process: child,
    write: (bytes) => {
      child.stdin.write(bytes)
      child.stdin.flush()
    },
    send: (value) => {
      child.stdin.write(`${JSON.stringify(value)}\n`)
      child.stdin.flush()
    },
    next: () => inbox.next(),
    end: () => void child.stdin.end(),
    closed: Promise.all([reading, child.exited]),
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}
