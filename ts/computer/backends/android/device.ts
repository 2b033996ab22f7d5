/** An Android device as the handlers use it. */
import { Failure } from '@backlot/contract/failure'
import { commandOf } from './adb/quote.ts'
import type { AdbDevice } from './adb/server.ts'
import { type CommandEnd, ShellSession } from './adb/session.ts'
import { DeviceFiles } from './adb/sync.ts'

/** How long a command may take beside what everything takes, and who gives it up. */
export interface RunOptions {
  readonly signal?: AbortSignal
  /** Milliseconds that it takes by itself, such as those of a swipe. */
  readonly takesMs?: number
}

/** Milliseconds in which a device carries out a command that takes no time by itself; its own programs need a second. */
const usualMs = 60_000

export class AndroidDevice implements AsyncDisposable {
  readonly files: DeviceFiles
  readonly #session: ShellSession

  constructor(readonly adb: AdbDevice) {
    this.files = new DeviceFiles(adb)
    this.#session = new ShellSession(adb)
  }

  /** Runs a program of the device, none of whose arguments its shell reads as anything else. Throws `device_failed`. */
  async run(words: readonly (string | number)[], options: RunOptions = {}): Promise<string> {
    return succeeded(words.join(' '), await this.line(commandOf(words), options))
  }

  /** Runs programs one after the other as one command, which ends at the first that fails. Throws `device_failed`. */
  async runAll(commands: readonly (readonly (string | number)[])[], options: RunOptions = {}): Promise<void> {
    const shown = commands.map((words) => words.join(' ')).join('; ')
    succeeded(shown, await this.line(commands.map(commandOf).join(' && '), options))
  }

  /** Runs a line of shell in which everything that is not ours is quoted, and tells how it ended. */
  line(line: string, { signal, takesMs = 0 }: RunOptions = {}): Promise<CommandEnd> {
    return this.#session.run(line, signal, usualMs + takesMs)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#session[Symbol.asyncDispose]()
  }
}

/** What it wrote, where it succeeded. Programs of Android tell some failures by words alone. */
const succeeded = (shown: string, { stdout, stderr, status }: CommandEnd): string => {
  const said = stderr.trim() || stdout.trim()
  if (status === 0 && !/^(?:Error|Exception|java\.)/m.test(stderr)) return stdout
  const short = shown.length > 100 ? `${shown.slice(0, 100)}…` : shown
  throw new Failure('device_failed', `"${short}" ended with ${status} on the device: ${said.slice(0, 500)}`)
}
