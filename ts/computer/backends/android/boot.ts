/** A device as it comes and goes: found, watched while it boots, used once it has, found again when it was lost. */
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '@backlot/contract/failure'
import type { Backend } from '../../backend.ts'
import { Terminals } from '../../pty/terminals.ts'
import { Replacement } from '../../replaceable.ts'
import type { AdbAddress } from './adb/connection.ts'
import { AdbDevice } from './adb/server.ts'
import { AndroidDevice } from './device.ts'
import { androidBackend } from './index.ts'
import { startingOn } from './terminal.ts'

/** Milliseconds between two looks at a device that boots, or that is in use. */
const pollIntervalMs = 500
const watchEveryMs = 2_000

/** How far a device has booted, by what it says of itself: percent, and what it does. */
const stages: readonly (readonly [percent: number, what: string, said: (properties: BootProperties) => boolean])[] = [
  [100, 'booted', ({ completed }) => completed === '1'],
  [80, 'the system starts its services', ({ animation }) => animation === 'running'],
  [60, 'the system shows its first picture', ({ animation }) => animation === 'stopped'],
  [40, 'the device answers', () => true],
]

interface BootProperties {
  readonly completed: string
  readonly animation: string
}

export interface DeviceOptions {
  readonly address: AdbAddress
  readonly serial: string | undefined
  /** Why no device answers yet, where somebody knows more than adb does. */
  readonly bootReason?: (() => string | undefined) | undefined
  /** Takes a line for each change, without time and line end. */
  log(line: string): void
}

/** The device of a server. Disposing of it lets go of the device, which goes on. */
export class ServedDevice implements AsyncDisposable {
  readonly backend = new Replacement<Backend>()
  readonly device = new Replacement<AndroidDevice>()
  /** Those of the device; whoever serves them ends them. */
  readonly terminals = new Terminals(startingOn(this.device))
  readonly #ending = new AbortController()
  readonly #watching: Promise<void>
  #percent = 0
  #why = ''

  constructor(private readonly options: DeviceOptions) {
    this.#watching = this.#watch()
  }

  /** Percent of its way to a device that can be used. */
  get percent(): number {
    return this.#percent
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await this.#watching
  }

  async #watch(): Promise<void> {
    const { signal } = this.#ending
    this.#tell(0, this.#withReason('no device has answered yet'))
    while (!signal.aborted) {
      await using device = new AndroidDevice(new AdbDevice(this.options.address, this.options.serial))
      try {
        if (!(await this.#hasBooted(device, signal))) {
          await pause(pollIntervalMs, undefined, { signal })
          continue
        }
        await using backend = androidBackend(device, this.terminals)
        this.#tell(100, 'booted')
        this.backend.begin(backend)
        this.device.begin(device)
        await this.#untilLost(signal)
      } catch (error) {
        if (signal.aborted) return
        const { message } = Failure.from(error)
        if (this.backend.phase === 'ready') {
          this.#percent = 0
          this.#why = ''
        }
        this.#tell(0, this.#withReason(message))
        await pause(pollIntervalMs, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  /** Looks how far it is. Throws `device_failed` where it does not answer. */
  async #hasBooted(device: AndroidDevice, signal: AbortSignal): Promise<boolean> {
    const { stdout } = await device.line('getprop sys.boot_completed; echo; getprop init.svc.bootanim', { signal })
    const [completed = '', animation = ''] = stdout
      .split('\n')
      .map((line) => line.trim())
      .filter((line, at) => at === 0 || line !== '')
    const [percent, what] = stages.find(([, , said]) => said({ completed, animation })) ?? [0, '']
    this.#tell(percent, percent === 100 ? what : this.#withReason(what))
    return percent === 100
  }

  /** Settles by throwing: `device_failed` when the device answers no more. */
  async #untilLost(signal: AbortSignal): Promise<never> {
    const { address, serial } = this.options
    // A shell of its own: that of the commands may be busy for as long as they take.
    await using watched = new AndroidDevice(new AdbDevice(address, serial))
    for (;;) {
      await watched.line('true', { signal })
      await pause(watchEveryMs, undefined, { signal })
    }
  }

  #withReason(what: string): string {
    const reason = this.options.bootReason?.()
    return reason === undefined ? what : `${what}; ${reason}`
  }

  #tell(percent: number, why: string): void {
    if (percent === this.#percent && why === this.#why) return
    this.#percent = percent
    this.#why = why
    this.options.log(`device: ${why}`)
    if (percent === 100) return
    const text = `${this.options.serial ?? 'the device'}: ${why}`
    this.backend.end(text)
    this.device.end(text)
  }
}
