/**
 * Files of a device by adb's sync service (SYNC.TXT and file_sync_protocol.h): a request is four letters, the length of a path
 * in four bytes, the path. Numbers are little-endian. `STA2`, `LST2` and `LIS2` need Android 8 or later.
 */
import { Failure } from '@backlot/contract/failure'
import type { Connection } from './connection.ts'
import type { AdbDevice } from './server.ts'

/** What is at a path. */
export interface FileStat {
  readonly mode: number
  /** Bytes. */
  readonly size: number
  readonly modifiedAt: Date
}

export interface NamedStat extends FileStat {
  readonly name: string
}

/** Whether the mode (stat(2)) is that of a folder, a link, or a file with bytes of its own. */
export const isFolder = ({ mode }: FileStat): boolean => (mode & 0o170000) === 0o040000
export const isLink = ({ mode }: FileStat): boolean => (mode & 0o170000) === 0o120000
export const isPlain = ({ mode }: FileStat): boolean => (mode & 0o170000) === 0o100000

/** Bytes of a file in one packet (SYNC_DATA_MAX). */
const longestPart = 64 * 1024

/** The files of a device. Errors of a path carry `code` and `syscall`, as those of the system do. */
export class DeviceFiles {
  constructor(private readonly device: AdbDevice) {}

  /** What a path names; a link is not followed unless `follow`. Throws as the system does. */
  async stat(path: string, follow = false): Promise<FileStat> {
    using connection = await this.device.open('sync:')
    await request(connection, follow ? 'STA2' : 'LST2', path)
    const answer = await connection.exactly(4 + 68)
    throwErrno(answer.readUInt32LE(4), path)
    return statIn(answer.subarray(4))
  }

  /** What is in a folder, `.` and `..` aside; a path that is no folder gives nothing. */
  async list(path: string): Promise<NamedStat[]> {
    using connection = await this.device.open('sync:')
    await request(connection, 'LIS2', path)
    const found: NamedStat[] = []
    for (;;) {
      const head = await connection.exactly(4 + 72)
      if (head.toString('latin1', 0, 4) === 'DONE') return found
      const name = (await connection.exactly(head.readUInt32LE(72))).toString()
      if (name !== '.' && name !== '..') found.push({ name, ...statIn(head.subarray(4)) })
    }
  }

  /** The bytes of a file, as they come. Throws `file_refused` with what the device says. */
  async *read(path: string): AsyncGenerator<Buffer, void, void> {
    using connection = await this.device.open('sync:')
    await request(connection, 'RECV', path)
    for (;;) {
      const { id, length } = await answerOf(connection)
      if (id === 'DONE') return
      const bytes = await connection.exactly(length)
      if (id === 'FAIL') throw refused(path, bytes)
      yield bytes
    }
  }

  /** Writes a file of the pieces; gives its bytes. Throws `file_refused` with what the device says. */
  async write(path: string, mode: number, pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<number> {
    using connection = await this.device.open('sync:')
    await request(connection, 'SEND', `${path},${(0o100000 | mode).toString()}`)
    let written = 0
    for await (const piece of pieces) {
      for (let at = 0; at < piece.byteLength; at += longestPart) {
        const part = piece.subarray(at, at + longestPart)
        await connection.write(Buffer.concat([headOf('DATA', part.byteLength), part]))
      }
      written += piece.byteLength
    }
    await connection.write(headOf('DONE', Math.floor(Date.now() / 1_000)))
    const { id, length } = await answerOf(connection)
    if (id !== 'OKAY') throw refused(path, await connection.exactly(length))
    return written
  }
}

const headOf = (id: string, number: number): Buffer => {
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head.writeUInt32LE(number, 4)
  return head
}

const request = async (connection: Connection, id: string, path: string): Promise<void> => {
  const bytes = Buffer.from(path)
  await connection.write(Buffer.concat([headOf(id, bytes.byteLength), bytes]))
}

const answerOf = async (connection: Connection): Promise<{ id: string; length: number }> => {
  const head = await connection.exactly(8)
  return { id: head.toString('latin1', 0, 4), length: head.readUInt32LE(4) }
}

/** `sync_stat_v2` after its id: error, dev, ino, mode, nlink, uid, gid, size, and three times. */
const statIn = (bytes: Buffer): FileStat => ({
  mode: bytes.readUInt32LE(20),
  size: Number(bytes.readBigUInt64LE(36)),
  modifiedAt: new Date(Number(bytes.readBigInt64LE(52)) * 1_000),
})

/** The numbers of errno.h that stat(2) gives. */
const names: Readonly<Record<number, string>> = {
  2: 'ENOENT',
  13: 'EACCES',
  20: 'ENOTDIR',
  36: 'ENAMETOOLONG',
  40: 'ELOOP',
}

const throwErrno = (number: number, path: string): void => {
  if (number === 0) return
  const code = names[number] ?? `errno ${number}`
  throw Object.assign(new Error(`${code}: ${path}`), { code, syscall: 'stat' })
}

const refused = (path: string, said: Buffer): Failure =>
  new Failure('file_refused', `"${path}" cannot be used: ${said.toString().trim()}.`, { path })
