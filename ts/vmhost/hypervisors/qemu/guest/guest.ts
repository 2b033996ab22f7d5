/** What is done inside a guest of QEMU, through its agent. */
import { Failure } from '@backlot/contract/failure'
import type { Guest, Machine } from '../../hypervisor.ts'
import type { Patience } from './agent.ts'
import { execInGuest, type GuestCommand, type GuestResult } from './guest-exec.ts'
import { type FileOptions, readGuestFile, writeGuestFile } from './guest-files.ts'
import { type GuestOutput, keptOutput, type Limits, streamInGuest } from './guest-stream.ts'

/** Milliseconds that the commands around a file may take, and that an agent of a guest which was just started may. */
const filesWithinMs = 60_000

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

  execute(command: GuestCommand, timeoutMs: number): Promise<GuestResult> {
    return execInGuest(this.socket, this.machine.place.settings.guestOs, command, timeoutMs, this.#patience(timeoutMs))
  }

  stream(command: GuestCommand, limits: Limits): Promise<AsyncGenerator<GuestOutput, number>> {
    if (this.machine.place.settings.guestOs !== 'linux')
      return Promise.resolve(atItsEnd(this.execute(command, limits.timeoutMs)))
    return streamInGuest(this.socket, command, limits, this.#patience(limits.timeoutMs))
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

const atItsEnd = async function* (result: Promise<GuestResult>): AsyncGenerator<GuestOutput, number> {
  const given = await result
  yield* keptOutput('stdout', Buffer.from(given.stdout), given.stdoutTruncated)
  yield* keptOutput('stderr', Buffer.from(given.stderr), given.stderrTruncated)
  return given.exitCode
}
