/** One shell on a device that stays open, so that a command costs a round trip and no process on this side. */

import { addAbortListener } from 'node:events'
import { shellOutputLength } from '@backlot/contract/computer/limits'
import { Failure } from '@backlot/contract/failure'
import { Queue } from '@backlot/contract/queue'
import type { Connection } from './connection.ts'
import { MarkedOutput, newMark } from './marked-output.ts'
import type { AdbDevice } from './server.ts'
import { nextPacket, packet, sendPacket } from './shell-packets.ts'

/** How a command of the session ended. */
export interface CommandEnd {
  readonly stdout: string
  readonly stderr: string
  readonly status: number
}

/** Milliseconds after which a command of ours counts as hanging, where nobody says more. */
const usualMs = 60_000

/** Runs commands one after the other; a command that is given up ends the shell, and the next one opens another. */
export class ShellSession implements AsyncDisposable {
  #opened: Connection | undefined
  readonly #lines = new Queue()
  #isClosed = false

  constructor(private readonly device: AdbDevice) {}

  /** Runs a line, which has to be whole for the shell. Throws `device_failed`, and the reason of the signal. */
  run(line: string, signal?: AbortSignal, mostMs = usualMs): Promise<CommandEnd> {
    return this.#lines.run(() => this.#run(line, signal, mostMs))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#drop()
    await this.#lines.idle()
  }

  async #run(line: string, signal: AbortSignal | undefined, mostMs: number): Promise<CommandEnd> {
    signal?.throwIfAborted()
    if (this.#isClosed) throw new Failure('device_failed', 'The computer server ends.')
    const connection = await this.#connection()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.#drop()
    }, mostMs)
    using _dropping = signal && addAbortListener(signal, () => this.#drop())
    try {
      return await readTo(connection, line)
    } catch (error) {
      this.#drop()
      if (signal?.aborted) throw signal.reason
      if (isLate) {
        throw new Failure('device_failed', `${this.device.name} has not ended "${line.slice(0, 80)}" in ${mostMs} ms.`)
      }
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #connection(): Promise<Connection> {
    // One that ended between two commands is told by its socket.
    if (this.#opened?.hasEnded) this.#drop()
    this.#opened ??= await this.device.open('shell,v2,raw:exec sh')
    return this.#opened
  }

  #drop(): void {
    this.#opened?.[Symbol.dispose]()
    this.#opened = undefined
  }
}

const readTo = async (connection: Connection, line: string): Promise<CommandEnd> => {
  const mark = newMark()
  const outputs = {
    [packet.stdout]: new MarkedOutput(mark, shellOutputLength),
    [packet.stderr]: new MarkedOutput(mark, shellOutputLength),
  }
  const [stdout, stderr] = [outputs[packet.stdout], outputs[packet.stderr]] as [MarkedOutput, MarkedOutput]
  const trailer = `printf '\\001%s %d\\n' ${mark.slice(1)} $?; printf '\\001%s\\n' ${mark.slice(1)} >&2`
  await sendPacket(connection, packet.stdin, Buffer.from(`{ ${line}\n} </dev/null; ${trailer}\n`))
  while (stdout.after === undefined || stderr.after === undefined) {
    const { id, bytes } = await nextPacket(connection)
    if (id === packet.exit) throw new Failure('device_failed', 'The shell of the device ended.')
    outputs[id as 1 | 2]?.take(bytes)
  }
  return { stdout: stdout.text, stderr: stderr.text, status: Number(stdout.after) }
}
