/** What a command in a guest reads while it comes: each part by a command of its own that the agent gives it to. */
import { type AgentCommand, type AgentTimeouts, askAgent } from './agent.ts'
import { inputData, type Status, silentMs } from './guest-exec.ts'
import { endsInput, writesInput } from './guest-pipes.ts'

/** Bytes that the agent is given at a time, and no more are held here. */
const partBytes = 512 * 1024

/** Pieces of a part: what comes in small ones is not waited for long. */
const mostPieces = 1_000

/** Milliseconds between two looks whether a part was read. */
const looks = { firstMs: 3, longestMs: 250, factor: 1.5 } as const

/** Where the input goes. */
export interface Feed {
  readonly socket: string
  /** Folder of the command's pipes. */
  readonly folder: string
  readonly isGone: AgentTimeouts['isGone']
  /** Aborted when the command has ended. */
  readonly ended: AbortSignal
}

/**
 * Gives a command its input until that is at its end or nobody reads it any more; what is left of it is cancelled then.
 * Throws `agent_unavailable` and what the input throws.
 */
export const feedInGuest = async (feed: Feed, input: ReadableStream<Uint8Array>): Promise<void> => {
  for await (const part of partsOf(input, feed.ended)) {
    if (!(await carriedOut(feed, writesInput(feed.folder), part))) return
  }
  if (!feed.ended.aborted) await carriedOut(feed, endsInput(feed.folder))
}

/** Whether a command did what it is for, before the one that reads had ended. */
const carriedOut = async (feed: Feed, line: string, input?: Uint8Array): Promise<boolean> => {
  const begin = { path: '/bin/sh', arg: ['-c', line], 'capture-output': false, ...inputData(input) }
  const { pid } = (await ask(feed, { execute: 'guest-exec', arguments: begin })) as { pid: number }
  for (let pause: number = looks.firstMs; ; pause = Math.min(looks.longestMs, pause * looks.factor)) {
    const status = (await ask(feed, { execute: 'guest-exec-status', arguments: { pid } })) as Status
    if (status.exited) return status.exitcode === 0
    // Who waits for a reader is woken when the pipes are removed.
    if (feed.ended.aborted) return false
    await Bun.sleep(pause)
  }
}

const ask = ({ socket, isGone }: Feed, { execute, arguments: given }: AgentCommand): Promise<unknown> =>
  askAgent(socket, execute, given, { until: Date.now() + silentMs, isGone })

/** The bytes of a stream, those together that are there at the same time; it is cancelled where no more are taken or `ended`. */
export const partsOf = async function* (
  input: ReadableStream<Uint8Array>,
  ended: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const reader = input.getReader()
  const cancel = () => void reader.cancel().catch(() => undefined)
  ended.addEventListener('abort', cancel)
  const read = () => {
    const next = reader.read()
    // It is heard by whoever waits for it.
    next.catch(() => undefined)
    return next
  }
  try {
    for (let next = read(); ; ) {
      const first = await next
      if (first.done || ended.aborted) return
      const held = [first.value]
      let { length } = first.value
      next = read()
      while (length < partBytes && held.length < mostPieces) {
        const more = await Promise.race([next, immediately()])
        if (more === undefined || more.done) break
        held.push(more.value)
        length += more.value.length
        next = read()
      }
      const bytes = Buffer.concat(held)
      for (let at = 0; at < bytes.length; at += partBytes) yield bytes.subarray(at, at + partBytes)
    }
  } finally {
    ended.removeEventListener('abort', cancel)
    cancel()
  }
}

const immediately = (): Promise<undefined> => new Promise((settle) => setImmediate(settle, undefined))
