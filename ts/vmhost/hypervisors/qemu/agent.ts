/** The QEMU guest agent: JSON over a serial port that nobody may be listening on. */
import { connect, type Socket } from 'node:net'
import { Failure } from '@backlot/contract/failure'

/** The delimiter that begins a synchronised answer (QEMU guest agent protocol, guest-sync-delimited). */
const delimiter = 0xff

/** Milliseconds that an agent may take to show that it listens; under emulation a guest is slow. */
const listensWithinMs = 1_500

/** The same for one that is asked for something: there is no other way. */
const askedListensWithinMs = 5_000

/** Milliseconds for the answer of a command that does nothing long. */
const answersWithinMs = 15_000

/** Sends the agent a command that has no answer, such as `guest-shutdown`; says whether an agent was there to take it. */
export const tellAgent = async (path: string, command: string, parameters: object): Promise<boolean> => {
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
export interface Patience {
  /** Milliseconds since 1970. */
  readonly until: number
  /** Whether nobody will ever listen any more. */
  isGone(): boolean
}

/** Milliseconds between two looks for an agent that is waited for, where its port cannot be reached. */
const looksAgainMs = 200

/** Has the agent do a command, and gives what it returns. Throws `agent_unavailable`. */
export const askAgent = async (
  path: string,
  command: string,
  parameters: object,
  patience?: Patience,
): Promise<unknown> => {
  let socket = await listening(path, askedListensWithinMs)
  while (socket === undefined && patience !== undefined && Date.now() < patience.until && !patience.isGone()) {
    await Bun.sleep(looksAgainMs)
    socket = await listening(path, askedListensWithinMs)
  }
  if (socket === undefined) throw unavailable('No guest agent answers.', command)
  try {
    const line = nextLine(socket, answersWithinMs, () => true)
    socket.write(request(command, parameters))
    const text = await line
    if (text === undefined) throw unavailable('The guest agent gave no answer.', command)
    const { return: result, error } = JSON.parse(text) as { return?: unknown; error?: { desc?: string } }
    if (error !== undefined) throw unavailable(`The guest agent refused: ${error.desc}.`, command)
    return result
  } finally {
    socket.end()
  }
}

const unavailable = (why: string, command: string): Failure =>
  new Failure(
    'agent_unavailable',
    `${why} Wait until the guest is up; if it has none, install qemu-guest-agent in it, or use ssh.`,
    { command },
  )

const request = (command: string, parameters: object): string =>
  `${JSON.stringify({ execute: command, arguments: parameters })}\n`

/** A connection to an agent that has just shown that it listens; undefined where none does. */
const listening = async (path: string, withinMs: number): Promise<Socket | undefined> => {
  const socket = await open(path)
  if (socket === undefined) return undefined
  const id = crypto.getRandomValues(new Uint32Array(1))[0] as number
  const answer = nextLine(socket, withinMs, (read) => read.includes(delimiter))
  socket.write(Buffer.from([delimiter]))
  socket.write(request('guest-sync-delimited', { id }))
  if ((await answer)?.includes(String(id))) return socket
  socket.end()
  return undefined
}

const open = (path: string): Promise<Socket | undefined> =>
  new Promise((settle) => {
    const socket = connect(path, () => settle(socket))
    socket.on('error', () => settle(undefined))
  })

/** The first whole line behind the last delimiter, once `begins` says that it may be there; undefined where none comes. */
const nextLine = (socket: Socket, withinMs: number, begins: (read: Buffer) => boolean): Promise<string | undefined> =>
  new Promise((settle) => {
    let read = Buffer.alloc(0)
    const done = (line: string | undefined) => {
      clearTimeout(timer)
      socket.off('data', take).off('close', close)
      settle(line)
    }
    const close = () => done(undefined)
    const take = (part: Buffer) => {
      read = Buffer.concat([read, part])
      const line = read.subarray(read.lastIndexOf(delimiter) + 1).toString()
      if (begins(read) && line.includes('\n')) done(line.slice(0, line.indexOf('\n')))
    }
    const timer = setTimeout(close, withinMs)
    socket.on('data', take).on('close', close)
  })
