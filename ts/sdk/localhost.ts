/** This very machine. */
import type { CallOptions } from './basics.ts'
import { Computer } from './computer.ts'
import { LocalTransport, type LocalTransportOptions } from './transports/local.ts'

/** This very machine, operated by a `backlot` process that the SDK starts: nothing stands between the agent and your desktop. */
export class Localhost extends Computer {
  private constructor(transport: LocalTransport) {
    super(transport)
  }

  /** Starts that process; throws `executable_not_found` where Backlot is not installed. */
  static async connect(options: CallOptions & LocalTransportOptions = {}): Promise<Localhost> {
    const transport = new LocalTransport(options)
    try {
      await transport.connect(options)
    } catch (error) {
      await transport.disconnect()
      throw error
    }
    return new Localhost(transport)
  }
}
