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

/** Sends the agent a command that has no answer, such as `guest-shutdown`; says whether an agent was there to take it. */
export const sendToAgent = async (path: string, command: string, parameters: object): Promise<boolean> => {
  const socket = await listening(path, listensWithinMs)
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
  const look = () => listening(path, Math.max(askedListensWithinMs, (patience?.until ?? 0) - Date.now()))
  let socket = await look()
  while (socket === undefined && patience !== undefined && Date.now() < patience.until && !patience.isGone()) {
    await Bun.sleep(looksAgainMs)
    socket = await look()
  }
  if (socket === undefined) throw unavailable('No guest agent answers.', first.execute)
  try {
    const lines = read(socket, answersWithinMs, (bytes) => firstLines(bytes, commands.length))
    socket.write(commands.map((each) => request(each.execute, each.arguments)).join(''))
    const texts = await lines
    if (texts === undefined) throw unavailable('The guest agent gave no answer.', first.execute, { hasBegun: true })
    return texts.map(answerIn)
  } finally {
    socket.end()
  }
}

const answerIn = (text: string): AgentAnswer => {
  const { return: returned, error } = JSON.parse(text) as { return?: unknown; error?: { desc?: string } }
  return error === undefined ? { returned } : { refused: error.desc ?? 'it does not say why' }
}

const unavailable = (why: string, command: string, more: { readonly hasBegun?: true } = {}): Failure =>
  new Failure(
    'agent_unavailable',
    `${why} Wait until the guest is up; if it has none, install qemu-guest-agent in it, or use ssh.`,
    { command, ...more },
  )

const request = (command: string, parameters: object): string =>
  `${JSON.stringify({ execute: command, arguments: parameters })}\n`

/** Milliseconds until a connection is asked once more: a guest or an agent that starts anew forgets what it was asked. */
const asksAgain = { firstMs: 1_000, longestMs: 10_000, factor: 2 } as const

/**
 * A connection to an agent that has just shown that it listens; undefined where none does. An agent answers what others
 * asked before and did not wait for, too: those answers come first, and are read over.
 */
const listening = async (path: string, withinMs: number): Promise<Socket | undefined> => {
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
  const isHeard = await read(socket, withinMs, (bytes) => {
    const answered = synchronisedAnswers(bytes)
    if (asked.some((id) => answered.includes(id))) clearTimeout(timer)
    // Behind the answer to the last question nothing follows that was not asked for.
    return answered.includes(asked.at(-1)) || undefined
  })
  clearTimeout(timer)
  if (isHeard) return socket
  socket.end()
  return undefined
}

/** What the whole lines behind delimiters return. */
const synchronisedAnswers = (bytes: Buffer): unknown[] =>
  bytes
    .toString('latin1')
    .split(String.fromCharCode(delimiter))
    .slice(1)
    .map((text) => {
      try {
        return (JSON.parse(firstLine(text) ?? '') as { return?: unknown }).return
      } catch {
        return undefined
      }
    })

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

/** The first whole line; undefined where there is none yet. */
const firstLine = (text: Buffer | string): string | undefined =>
  text.includes('\n') ? text.toString().split('\n', 1)[0] : undefined

/** The first so many whole lines; undefined where there are not as many yet. */
const firstLines = (bytes: Buffer, count: number): string[] | undefined => {
  const lines = bytes.toString().split('\n')
  return lines.length > count ? lines.slice(0, count) : undefined
}

/** The first thing that `pick` finds in what comes over a connection; undefined where nothing does in that time. */
const read = <Found>(
  socket: Socket,
  withinMs: number,
  pick: (bytes: Buffer) => Found | undefined,
): Promise<Found | undefined> =>
  new Promise((settle) => {
    const parts: Buffer[] = []
    const done = (found?: Found) => {
      clearTimeout(timer)
      socket.off('data', take).off('close', close)
      settle(found)
    }
    const close = () => done()
    const take = (part: Buffer) => {
      parts.push(part)
      // Answers end with their line; a long one comes in many parts.
      if (!part.includes('\n')) return
      const found = pick(Buffer.concat(parts))
      if (found !== undefined) done(found)
    }
    const timer = setTimeout(close, withinMs)
    socket.on('data', take).on('close', close)
  })
