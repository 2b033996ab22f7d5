/** What is done inside a guest of QEMU, through its agent. */
import type { NetworkInterface } from '@backlot/contract/vmhost/guest'
import type { Guest, Machine } from '../../hypervisor.ts'
import type { AgentTimeouts } from './agent.ts'
import { beginInGuest, type GuestCommand, type GuestResult, type Limits, resultInGuest } from './guest-exec.ts'
import { type FileOptions, readGuestFile, writeGuestFile } from './guest-files.ts'
import { type GuestOutput, keptOutput, streamInGuest } from './guest-stream.ts'
import { interfacesOf } from './interfaces.ts'

/** Milliseconds that the commands around a file may take, and that an agent of a guest which was just started may. */
const filesWithinMs = 60_000
const asksWithinMs = 60_000

/** What is known of the machine. */
type Around = Pick<Machine, 'place' | 'startedAt' | 'ended'>

export class QemuGuest implements Guest {
  #isGone = false

  constructor(
    readonly socket: string,
    readonly machine: Around,
  ) {
    machine.ended.then(() => {
      this.#isGone = true
    })
  }

  async execute(command: GuestCommand, timeoutMs: number, signal?: AbortSignal): Promise<GuestResult> {
    if (signal?.aborted && command.input instanceof ReadableStream) await command.input.cancel(signal.reason)
    signal?.throwIfAborted()
    const limits = { timeoutMs, ...(signal !== undefined && { signal }) }
    if (command.input instanceof ReadableStream) return collected(await this.stream(command, limits))
    return await (await this.#begin(command, limits))()
  }

  async stream(command: GuestCommand, limits: Limits): Promise<AsyncGenerator<GuestOutput, number>> {
    if (this.machine.place.settings.guestOs !== 'linux') return atItsEnd(await this.#begin(command, limits))
    return streamInGuest(this.socket, command, limits, this.#patience(limits.timeoutMs))
  }

  /** Begins a command, and gives what waits for its result. */
  async #begin(asked: GuestCommand, limits: Limits): Promise<() => Promise<GuestResult>> {
    const { guestOs } = this.machine.place.settings
    const patience = this.#patience(limits.timeoutMs)
    const pid = await beginInGuest(this.socket, guestOs, asked, patience)
    return () => resultInGuest(this.socket, guestOs, { pid, command: asked.command }, limits, patience.isGone)
  }

  interfaces(): Promise<NetworkInterface[]> {
    return interfacesOf(this.socket, this.#patience(asksWithinMs))
  }

  readFile(path: string): Promise<AsyncGenerator<Uint8Array>> {
    return readGuestFile(this.#files(), path)
  }

  writeFile(path: string, bytes: AsyncIterable<Uint8Array>, options: FileOptions): Promise<number> {
    return writeGuestFile(this.#files(), path, bytes, options)
  }

  #files() {
    const execute = (command: GuestCommand) => this.execute(command, filesWithinMs)
    return { socket: this.socket, patience: this.#patience(filesWithinMs), execute }
  }

  /** A guest that has just been started is still coming up. */
  #patience(timeoutMs: number): AgentTimeouts {
    return { until: Date.parse(this.machine.startedAt) + timeoutMs, isGone: () => this.#isGone }
  }
}

/** Bytes of each output that are kept of a command whose output is not streamed, as many as the agent keeps. */
const keptBytes = 16 * 2 ** 20

/** All that a command gives, as far as it is kept. */
const collected = async (output: AsyncGenerator<GuestOutput, number>): Promise<GuestResult> => {
  const kept = { stdout: new OutputBuffer(), stderr: new OutputBuffer() }
  for (;;) {
    const { done, value } = await output.next()
    if (!done) kept[value.stream].add(value.bytes)
    else {
      const { stdout, stderr } = kept
      const texts = { stdout: stdout.text, stderr: stderr.text }
      return { ...texts, stdoutTruncated: stdout.isCut, stderrTruncated: stderr.isCut, exitCode: value }
    }
  }
}

class OutputBuffer {
  readonly #parts: Uint8Array[] = []
  #length = 0
  isCut = false

  add(bytes: Uint8Array): void {
    const part = bytes.subarray(0, keptBytes - this.#length)
    this.#parts.push(part)
    this.#length += part.length
    if (part.length < bytes.length) this.isCut = true
  }

  get text(): string {
    return Buffer.concat(this.#parts).toString()
  }
}

const atItsEnd = async function* (result: () => Promise<GuestResult>): AsyncGenerator<GuestOutput, number> {
  const given = await result()
  yield* keptOutput('stdout', Buffer.from(given.stdout), given.stdoutTruncated)
  yield* keptOutput('stderr', Buffer.from(given.stderr), given.stderrTruncated)
  return given.exitCode
}
