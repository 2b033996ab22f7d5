/** The packets of adb's shell protocol (shell_protocol.h): a byte that says what follows, its length in four bytes, the bytes. */
import type { Connection } from './connection.ts'

/** What a packet holds. */
export const packet = { stdin: 0, stdout: 1, stderr: 2, exit: 3, closeStdin: 4, windowSize: 5 } as const

export interface ShellPacket {
  readonly id: number
  readonly bytes: Buffer
}

/** Bytes of input in one packet. */
const longest = 64 * 1024

/** Sends a packet, or as many as its bytes need. */
export const sendPacket = async (connection: Connection, id: number, bytes: Uint8Array): Promise<void> => {
  for (let at = 0; at === 0 || at < bytes.byteLength; at += longest) {
    const part = bytes.subarray(at, at + longest)
    const head = Buffer.alloc(5)
    head.writeUInt8(id)
    head.writeUInt32LE(part.byteLength, 1)
    await connection.write(Buffer.concat([head, part]))
  }
}

/** The next packet. Throws `device_failed` at the end of the connection. */
export const nextPacket = async (connection: Connection): Promise<ShellPacket> => {
  const head = await connection.exactly(5)
  return { id: head.readUInt8(), bytes: await connection.exactly(head.readUInt32LE(1)) }
}
