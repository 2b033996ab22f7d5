/** Programs on pseudo-terminals of a device, each by adb's shell protocol. */
import { constants } from 'node:os'
import type { StartProgram, TerminalOptions, TerminalProgram } from '../../pty/program.ts'
import type { Replaceable } from '../../replaceable.ts'
import type { Connection } from './adb/connection.ts'
import { quoted } from './adb/quote.ts'
import { nextPacket, packet, sendPacket } from './adb/shell-packets.ts'
import type { AndroidDevice } from './device.ts'
import { deviceHome, folderOf } from './paths.ts'
import { begun } from './shell.ts'

/** The status of a program whose line to this server broke: adbd hangs up on it. */
const hungUp = 128 + constants.signals.SIGHUP

/** Starts programs on the device that there is then. */
export const startingOn =
  (current: Replaceable<AndroidDevice>): StartProgram =>
  async (options, take) => {
    const device = await current.get()
    const cwd = await folderOf(device, options.cwd ?? '~')
    const connection = await device.adb.open(`shell,v2,TERM=xterm-256color,pty:${lineOf(options, cwd)}`)
    try {
      await sendSize(connection, options.cols, options.rows)
      const { pid, stdout } = await begun(connection)
      if (stdout.byteLength > 0) take(stdout)
      return new DeviceProgram(device, connection, pid, take)
    } catch (error) {
      connection[Symbol.dispose]()
      throw error
    }
  }

class DeviceProgram implements TerminalProgram {
  readonly exited: Promise<number>
  #sending: Promise<void> = Promise.resolve()

  constructor(
    private readonly device: AndroidDevice,
    private readonly connection: Connection,
    readonly pid: number,
    take: (bytes: Uint8Array) => void,
  ) {
    this.exited = untilExit(connection, take).catch(() => hungUp)
  }

  write(bytes: string | Uint8Array): void {
    this.#send(() => sendPacket(this.connection, packet.stdin, Buffer.from(bytes as string)))
  }

  resize(cols: number, rows: number): void {
    this.#send(() => sendSize(this.connection, cols, rows))
  }

  async end(): Promise<void> {
    // A shell that is talked to gives each of its jobs a process group: only the session holds all of them.
    const ended = await this.device.line(`pkill -KILL -s ${this.pid}`).catch(() => undefined)
    if (ended?.status !== 0) this.connection[Symbol.dispose]()
  }

  /** One after the other: a long input is several packets. */
  #send(send: () => Promise<void>): void {
    this.#sending = this.#sending.then(send)
  }
}

const untilExit = async (connection: Connection, take: (bytes: Uint8Array) => void): Promise<number> => {
  using reading = connection
  for (;;) {
    const { id, bytes } = await nextPacket(reading)
    if (id === packet.exit) return bytes[0] ?? 255
    if (id === packet.stdout) take(bytes)
  }
}

/** The text is as adb's own client sends it, with a null character at its end. */
const sendSize = (connection: Connection, cols: number, rows: number): Promise<void> =>
  sendPacket(connection, packet.windowSize, Buffer.from(`${rows}x${cols},0x0\0`))

/** The line that becomes the program; it tells its process first. Clients call the usual shell bash, which devices lack. */
const lineOf = ({ command, cols, rows, env }: TerminalOptions, cwd: string): string => {
  const isShell = command === undefined || command === 'bash'
  const variables = Object.entries({ HOME: deviceHome, COLORTERM: 'truecolor', ...env })
  return [
    // The packet with the size may come after the program has asked for it.
    `stty cols ${cols} rows ${rows} 2>/dev/null`,
    'echo $$',
    `cd ${quoted(cwd)}`,
    ...variables.map(([name, value]) => `export ${name}=${quoted(value)}`),
    isShell ? 'exec sh -i' : `exec sh -c ${quoted(command)}`,
  ].join('; ')
}
