/** The QEMU guest agent: JSON over a serial port that nobody may be listening on. */
import { connect, type Socket } from 'node:net'
import { Failure } from '@backlot/contract/failure'
import { reachSocket } from '../socket-path.ts'

/** The delimiter that begins a synchronised answer (QEMU guest agent protocol, guest-sync-delimited). */
const delimiter = 0xff

/** Milliseconds that an agent may take to show that it listens; under emulation a guest is slow. */
const listensWithinMs = 1_500

/** The same for one that is asked for something: there is no other way. */
const askedListensWithinMs = 5_000

/** Milliseconds for the answer of a command that does nothing long. */
const answersWithinMs = 15_000

/**
 * Bytes that are read for one answer, with those before it that nobody waited for: a command's two outputs of 16 MiB each in
 * base64 are less than half of it.
 */
const mostBytes = 96 * 2 ** 20

/** Sends the agent a command that has no answer, such as `guest-shutdown`; says whether an agent was there to take it. */
export const sendToAgent = async (path: string, command: string, parameters: object): Promise<boolean> => {
  const socket = await listening(path, listensWithinMs, command).catch(() => undefined)
  if (socket === undefined) return false
  try {
    await new Promise<void>((settle) => socket.write(request(command, parameters), () => settle()))
    return true
  } finally {
    socket.end()
  }
}

/** How long an agent is waited for that does not listen yet. */
export interface AgentTimeouts {
  /** Milliseconds since 1970. */
  readonly until: number
  /** Whether nobody will ever listen any more. */
  isGone(): boolean
}

/** Milliseconds between two looks for an agent that is waited for, where its port cannot be reached. */
const looksAgainMs = 200

/** What an agent is asked to do. */
export interface AgentCommand {
  readonly execute: string
  readonly arguments: object
}

/** What it answered to one of several: what that returned, or its words where it refused. */
export type AgentAnswer = { readonly returned: unknown } | { readonly refused: string }

/** Has the agent do a command, and gives what it returns. Throws what `askAgentAll` throws. */
export const askAgent = async (
  path: string,
  command: string,
  parameters: object,
  patience?: AgentTimeouts,
): Promise<unknown> => {
  const [answer] = await askAgentAll(path, [{ execute: command, arguments: parameters }], patience)
  if (answer !== undefined && 'returned' in answer) return answer.returned
  throw unavailable(`The guest agent refused: ${answer?.refused}.`, command)
}

/**
 * Has the agent do commands one after the other, and gives an answer to each. Throws `agent_unavailable`, with `hasBegun` in
 * its data where it was sent them and did not answer: it may have done them, or do them later.
 */
export const askAgentAll = async (
  path: string,
  commands: readonly AgentCommand[],
  patience?: AgentTimeouts,
): Promise<AgentAnswer[]> => {
  const [first = { execute: '' }] = commands
  const look = () => listening(path, Math.max(askedListensWithinMs, (patience?.until ?? 0) - Date.now()), first.execute)
  let socket = await look()
  while (socket === undefined && patience !== undefined && Date.now() < patience.until && !patience.isGone()) {
    await Bun.sleep(looksAgainMs)
    socket = await look()
  }
  if (socket === undefined) throw unavailable('No guest agent answers.', first.execute)
  try {
    const texts: string[] = []
    const hear = (line: Buffer) => texts.push(line.toString()) === commands.length || undefined
    const answered = read(socket, answersWithinMs, hear, () => tooMuch(first.execute, { hasBegun: true }))
    socket.write(commands.map((each) => request(each.execute, each.arguments)).join(''))
    const isWhole = await answered
    if (isWhole === undefined) throw unavailable('The guest agent gave no answer.', first.execute, { hasBegun: true })
    return texts.map(answerIn)
  } finally {
    socket.end()
  }
}

const answerIn = (text: string): AgentAnswer => {
  const { return: returned, error } = JSON.parse(text) as { return?: unknown; error?: { desc?: string } }
  return error === undefined ? { returned } : { refused: error.desc ?? 'it does not say why' }
}

const unavailable = (why: string, command: string, more: { readonly hasBegun?: true } | undefined = {}): Failure =>
  new Failure(
    'agent_unavailable',
    `${why} Wait until the guest is up; if it has none, install qemu-guest-agent in it, or use ssh.`,
    { command, ...more },
  )

const tooMuch = (command: string, more?: { readonly hasBegun: true }): Failure =>
  unavailable(`The guest agent writes more than ${mostBytes / 2 ** 20} MiB.`, command, more)

const request = (command: string, parameters: object): string =>
  `${JSON.stringify({ execute: command, arguments: parameters })}\n`

/** Milliseconds until a connection is asked once more: a guest or an agent that starts anew forgets what it was asked. */
const asksAgain = { firstMs: 1_000, longestMs: 10_000, factor: 2 } as const

/**
 * A connection to an agent that has just shown that it listens; undefined where none does. An agent answers what others
 * asked before and did not wait for, too: those answers come first, and are read over. Throws `agent_unavailable`, for that
 * command, where they do not come to an end.
 */
const listening = async (path: string, withinMs: number, command: string): Promise<Socket | undefined> => {
  const socket = await open(path)
  if (socket === undefined) return undefined
  const asked: number[] = []
  let pauseMs: number = asksAgain.firstMs
  let timer: Timer | undefined
  const ask = () => {
    const id = crypto.getRandomValues(new Uint32Array(1))[0] as number
    asked.push(id)
    socket.write(Buffer.from([delimiter]))
    socket.write(request('guest-sync-delimited', { id }))
    timer = setTimeout(ask, pauseMs)
    pauseMs = Math.min(asksAgain.longestMs, pauseMs * asksAgain.factor)
  }
  ask()
  const hear = (line: Buffer) => {
    const answered = synchronisedAnswer(line)
    if (asked.some((id) => id === answered)) clearTimeout(timer)
    // Behind the answer to the last question nothing follows that was not asked for.
    return answered === asked.at(-1) || undefined
  }
  let isHeard: boolean | undefined
  try {
    isHeard = await read(socket, withinMs, hear, () => tooMuch(command))
  } finally {
    clearTimeout(timer)
    if (!isHeard) socket.end()
  }
  return isHeard ? socket : undefined
}

/** What the answer behind the last delimiter of a line returns; undefined where there is none. */
const synchronisedAnswer = (line: Buffer): unknown => {
  const at = line.lastIndexOf(delimiter)
  if (at < 0) return undefined
  try {
    return (JSON.parse(line.toString('latin1', at + 1)) as { return?: unknown }).return
  } catch {
    return undefined
  }
}

const open = async (path: string): Promise<Socket | undefined> => {
  try {
    using reached = reachSocket(path)
    return await new Promise<Socket | undefined>((settle) => {
      const socket = connect(reached.path, () => settle(socket))
      socket.on('error', () => settle(undefined))
    })
  } catch {
    return undefined
  }
}

/**
 * Has QEMU let through what the agent writes once the guest runs. It throttles the port of a guest that was saved in the middle of
 * an answer, because nobody is there to take the rest, until a client goes whom the running guest had (QEMU 7.2, `flush_buf` in
 * hw/char/virtio-console.c).
 */
export const releasePort = async (path: string): Promise<void> => void (await open(path))?.destroy()

/**
 * The first thing that `pick` finds in the lines that come over a connection; undefined where nothing does in that time. Throws
 * `tooMuch` where more comes than is read.
 */
const read = <Found>(
  socket: Socket,
  withinMs: number,
  pick: (line: Buffer) => Found | undefined,
  tooMuch: () => Failure,
): Promise<Found | undefined> =>
  new Promise((settle, refuse) => {
    let parts: Buffer[] = []
    let length = 0
    const done = (found?: Found) => {
      clearTimeout(timer)
      socket.off('data', take).off('close', close)
      settle(found)
    }
    const close = () => done()
    const take = (part: Buffer) => {
      length += part.length
      if (length > mostBytes) {
        refuse(tooMuch())
        return done()
      }
      let start = 0
      for (let end = part.indexOf('\n'); end >= 0; end = part.indexOf('\n', start)) {
        const found = pick(Buffer.concat([...parts, part.subarray(start, end)]))
        if (found !== undefined) return done(found)
        parts = []
        start = end + 1
      }
      // A long answer comes in many parts.
      parts.push(part.subarray(start))
    }
    const timer = setTimeout(close, withinMs)
    socket.on('data', take).on('close', close)
  })
