/** What is done inside a guest of QEMU, through its agent. */
import { Failure } from '@backlot/contract/failure'
import type { NetworkInterface } from '@backlot/contract/vmhost/guest'
import type { Guest, Machine } from '../../hypervisor.ts'
import type { Patience } from './agent.ts'
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

  async execute(command: GuestCommand, timeoutMs: number): Promise<GuestResult> {
    return await (await this.#begin(command, { timeoutMs }))()
  }

  async stream(command: GuestCommand, limits: Limits): Promise<AsyncGenerator<GuestOutput, number>> {
    if (this.machine.place.settings.guestOs !== 'linux') return atItsEnd(await this.#begin(command, limits))
    return streamInGuest(this.socket, command, limits, this.#patience(limits.timeoutMs))
  }

  /** Begins a command, and gives what waits for its result. */
  async #begin({ command, input }: GuestCommand, limits: Limits): Promise<() => Promise<GuestResult>> {
    const { guestOs } = this.machine.place.settings
    const patience = this.#patience(limits.timeoutMs)
    const pid = await beginInGuest(this.socket, guestOs, { command, input }, patience)
    return () => resultInGuest(this.socket, guestOs, { pid, command }, limits, patience.isGone)
  }

  interfaces(): Promise<NetworkInterface[]> {
    return interfacesOf(this.socket, this.#patience(asksWithinMs))
  }

  readFile(path: string): Promise<AsyncGenerator<Uint8Array>> {
    this.#refuseOthers(path)
    return readGuestFile(this.#files(), path)
  }

  writeFile(path: string, bytes: AsyncIterable<Uint8Array>, options: FileOptions): Promise<number> {
    this.#refuseOthers(path)
    return writeGuestFile(this.#files(), path, bytes, options)
  }

  #files() {
    const execute = (command: GuestCommand) => this.execute(command, filesWithinMs)
    return { socket: this.socket, patience: this.#patience(filesWithinMs), execute }
  }

  /** A guest that has just been started is still coming up. */
  #patience(timeoutMs: number): Patience {
    return { until: Date.parse(this.machine.startedAt) + timeoutMs, isGone: () => this.#isGone }
  }

  #refuseOthers(path: string): void {
    const { name, settings } = this.machine.place
    if (settings.guestOs === 'linux') return
    const why = `the guest of "${name}" has no Linux. Copy over its network`
    throw new Failure('guest_file_failed', `The file "${path}" cannot be used: ${why}.`, { path })
  }
}

const atItsEnd = async function* (result: () => Promise<GuestResult>): AsyncGenerator<GuestOutput, number> {
  const given = await result()
  yield* keptOutput('stdout', Buffer.from(given.stdout), given.stdoutTruncated)
  yield* keptOutput('stderr', Buffer.from(given.stderr), given.stderrTruncated)
  return given.exitCode
}
