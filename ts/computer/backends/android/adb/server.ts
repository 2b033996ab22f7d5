/**
 * The local adb server and one device behind it (adb's OVERVIEW.TXT and SERVICES.TXT): a request is its length in four
 * hexadecimal digits and its text; the answer begins with OKAY, or with FAIL and a text of the same form.
 */
import { Failure } from '@backlot/contract/failure'
import { type AdbAddress, Connection } from './connection.ts'

/** One device of an adb server. */
export class AdbDevice {
  constructor(
    private readonly address: AdbAddress,
    /** The one of `adb devices`; the only device when undefined. */
    readonly serial: string | undefined,
  ) {}

  /** How the device is called in messages. */
  get name(): string {
    return this.serial ?? 'the device'
  }

  /** Opens a service of the device, such as `shell,v2,raw:ls`; the caller closes it. Throws `device_failed`. */
  async open(service: string): Promise<Connection> {
    const connection = await Connection.open(this.address)
    try {
      await ask(connection, this.serial === undefined ? 'host:transport-any' : `host:transport:${this.serial}`)
      await ask(connection, service)
      return connection
    } catch (error) {
      connection[Symbol.dispose]()
      throw error
    }
  }
}

const ask = async (connection: Connection, request: string): Promise<void> => {
  const bytes = Buffer.from(request)
  await connection.write(Buffer.concat([Buffer.from(bytes.byteLength.toString(16).padStart(4, '0')), bytes]))
  const answer = (await connection.exactly(4)).toString('latin1')
  if (answer === 'OKAY') return
  const length = Number.parseInt((await connection.exactly(4)).toString('latin1'), 16)
  const why =
    answer === 'FAIL' && length >= 0 ? (await connection.exactly(length)).toString() : `it answers "${answer}"`
  throw new Failure('device_failed', `adb refuses "${request.slice(0, 60)}": ${why.trim()}.`)
}
