/** The connection to a QEMU: commands as functions, and its events. */
import type { QmpClient } from '@backlot/native'
import { core } from '../../core.ts'
import { reachSocket } from './socket-path.ts'

/** What the hypervisor says of its own accord. */
export interface QmpEvent {
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A connection that commands can be sent over. */
export class Qmp {
  private constructor(
    readonly client: QmpClient,
    /** Settles when the connection has ended. */
    readonly ended: Promise<void>,
  ) {}

  /** Connects; throws `hypervisor_unreachable`, `hypervisor_timeout`, `hypervisor_lost`, `hypervisor_garbled`. */
  static async connect(socket: string, timeoutMs: number, onEvent: (event: QmpEvent) => void): Promise<Qmp> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const hear = (text: string) => {
      const { name, data } = JSON.parse(text) as { name: string; data?: Record<string, unknown> }
      onEvent({ name, data: data ?? {} })
    }
    using reached = reachSocket(socket)
    return new Qmp(await core().QmpClient.connect(reached.path, timeoutMs, hear, () => resolve()), promise)
  }

  /** Has a command done; throws `hypervisor_refused`, `hypervisor_timeout`, `hypervisor_lost`. */
  async execute<Result>(command: string, parameters?: object, timeoutMs = 5_000): Promise<Result> {
    const text = parameters === undefined ? undefined : JSON.stringify(parameters)
    return JSON.parse(await this.client.execute(command, text, timeoutMs)) as Result
  }

  /** Hands the hypervisor an open file, which commands name as `fd:NAME`; it may be closed here afterwards. */
  async give(name: string, descriptor: number): Promise<void> {
    await this.client.execute('getfd', JSON.stringify({ fdname: name }), 5_000, [descriptor])
  }

  /** Ends the connection; the VM runs on. */
  close(): void {
    this.client.close()
  }
}
