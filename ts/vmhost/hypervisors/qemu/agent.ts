/** The QEMU guest agent: JSON over a serial port that nobody may be listening on. */
import { connect, type Socket } from 'node:net'

/** The delimiter that begins a synchronised answer (QEMU guest agent protocol, guest-sync-delimited). */
const delimiter = 0xff

/** Milliseconds that an agent may take to show that it listens; under emulation a guest is slow. */
const listensWithinMs = 1_500

/** Sends the agent a command that has no answer, such as `guest-shutdown`; says whether an agent was there to take it. */
export const tellAgent = async (path: string, command: string, parameters: object): Promise<boolean> => {
  const socket = await open(path)
  if (socket === undefined) return false
  try {
    const id = crypto.getRandomValues(new Uint32Array(1))[0] as number
    const listens = answers(socket, id)
    socket.write(Buffer.from([delimiter]))
    socket.write(`${JSON.stringify({ execute: 'guest-sync-delimited', arguments: { id } })}\n`)
    if (!(await listens)) return false
    await new Promise<void>((settle) => {
      socket.write(`${JSON.stringify({ execute: command, arguments: parameters })}\n`, () => settle())
    })
    return true
  } finally {
    socket.end()
  }
}

const open = (path: string): Promise<Socket | undefined> =>
  new Promise((settle) => {
    const socket = connect(path, () => settle(socket))
    socket.on('error', () => settle(undefined))
  })

const answers = (socket: Socket, id: number): Promise<boolean> =>
  new Promise((settle) => {
    const timer = setTimeout(() => settle(false), listensWithinMs)
    let read = Buffer.alloc(0)
    socket.on('close', () => settle(false))
    socket.on('data', (part: Buffer) => {
      read = Buffer.concat([read, part])
      const at = read.lastIndexOf(delimiter)
      const line = read.subarray(at + 1).toString()
      if (at < 0 || !line.includes('\n')) return
      clearTimeout(timer)
      settle(line.includes(String(id)))
    })
  })
