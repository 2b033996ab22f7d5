/** Layers unpacked into a disk; runs of zeros become holes. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { Failure } from '@backlot/contract/failure'
import { unpackLz4 } from './lz4.ts'
import { tarEntries } from './tar.ts'

/** Bytes that are read and unpacked at a time: fewer cost processor time, more cost memory. */
const chunkSize = 2 ** 18

type Bytes = AsyncIterable<Buffer>

/** First bytes of what can be unpacked. */
const unpackers: Readonly<Record<string, (packed: Bytes) => Bytes>> = {
  '1f8b': (packed) => through(packed, createGunzip({ chunkSize })),
  '28b52ffd': (packed) => through(packed, createZstdDecompress({ chunkSize })),
  '04224d18': unpackLz4,
  // `bv4`: a frame of Apple's.
  '627634': unpackLz4,
  fd377a585a00: (packed) => throughProgram(packed, 'xz', 'xz-utils'),
  '425a68': (packed) => throughProgram(packed, 'bzip2', 'bzip2'),
}

/** Whoever reads the end of it hears of an error on the way. */
const through = (packed: Bytes, unpacker: NodeJS.ReadWriteStream): Bytes =>
  pipeline(packed, unpacker, () => undefined) as unknown as Readable

/** What a program makes of it that the runtime has no part for; throws `missing_program`, and an `Error` where it complains. */
async function* throughProgram(packed: Bytes, name: string, debianPackage: string): Bytes {
  const path = Bun.which(name)
  if (path === null) {
    const next = `on Debian and Ubuntu: apt install ${debianPackage}.`
    throw new Failure('missing_program', `"${name}" is not installed; ${next}`, { program: name })
  }
  const child = spawn(path, ['-dc'], { stdio: ['pipe', 'pipe', 'pipe'], env: { LC_ALL: 'C' } })
  const ended = new Promise<number | null>((settle) => child.once('close', settle))
  let complaint = ''
  child.stderr.on('data', (bytes: Buffer) => {
    complaint = (complaint + bytes.toString()).slice(0, 500)
  })
  let readError: unknown
  // A program that complains reads no further, and says itself why.
  pipeline(packed, child.stdin, (error) => {
    if (error?.code !== 'EPIPE') readError = error ?? undefined
  })
  try {
    for await (const part of child.stdout as AsyncIterable<Buffer>) yield part
    const status = await ended
    if (readError !== undefined) throw readError
    if (status !== 0) throw new Error(complaint.trim() || `"${name}" ended with status ${status}`)
  } finally {
    child.kill('SIGKILL')
  }
}

/** Bytes of a block that is written or left out. */
const block = 64 * 1024
const zeros = Buffer.alloc(block)

/** What was written: bytes, holes among them, and their digest. */
export interface Unpacked {
  readonly bytes: number
  readonly digest: string
}

/**
 * Writes what the files `from`, one after the other, hold, unpacked where it is gzip, zstd, LZ4, xz or bzip2, into `to` from byte
 * `offset` on, at most `most` bytes. Where it holds more, or is damaged, it throws an `Error`. Zeros are left out: what is there
 * must be a hole.
 */
export const unpackInto = async (
  from: readonly string[],
  to: FileHandle,
  offset: number,
  most: number,
  signal: AbortSignal,
): Promise<Unpacked> => {
  return writeAll(await contentOf(from, signal), to, offset, most)
}

/**
 * Writes the disk of a containerDisk: the first file below `disk/` of the archive at `from`, unpacked as above. Undefined
 * where the archive has none; throws an `Error` where it is damaged.
 */
export const unpackContainerDisk = async (
  from: string,
  to: FileHandle,
  most: number,
  signal: AbortSignal,
): Promise<Unpacked | undefined> => {
  for await (const entry of tarEntries(await contentOf([from], signal))) {
    if (entry.isFile && /^(\.?\/)?disk\/[^/]+$/.test(entry.name)) return writeAll(entry.content, to, 0, most)
  }
  return undefined
}

const writeAll = async (
  content: AsyncIterable<Buffer>,
  to: FileHandle,
  offset: number,
  most: number,
): Promise<Unpacked> => {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const part of content) {
    if (bytes + part.length > most) throw new Error(`it holds more than ${most} bytes`)
    hash.update(part)
    await writeSparse(to, part, offset + bytes)
    bytes += part.length
  }
  return { bytes, digest: `sha256:${hash.digest('hex')}` }
}

const contentOf = async (paths: readonly string[], signal: AbortSignal): Promise<Bytes> => {
  const start = await firstBytes(paths[0] ?? '')
  const unpack = Object.entries(unpackers).find(([magic]) => start.startsWith(magic))?.[1]
  const packed = oneAfterTheOther(paths, signal)
  return unpack?.(packed) ?? packed
}

async function* oneAfterTheOther(paths: readonly string[], signal: AbortSignal): Bytes {
  for (const path of paths) yield* createReadStream(path, { highWaterMark: chunkSize, signal }) as AsyncIterable<Buffer>
}

/** The bytes that tell how a file is packed, in hexadecimal. */
export const firstBytes = async (path: string): Promise<string> => {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(6), 0, 6, 0)
  return buffer.subarray(0, bytesRead).toString('hex')
}

/** Writes each run of blocks that are not all zeros. */
export const writeSparse = async (file: FileHandle, bytes: Buffer, position: number): Promise<void> => {
  let start = 0
  let at = 0
  const write = async (end: number) => {
    while (start < end) start += (await file.write(bytes, start, end - start, position + start)).bytesWritten
  }
  while (at < bytes.length) {
    const end = Math.min(at + block, bytes.length)
    if (bytes.subarray(at, end).equals(zeros.subarray(0, end - at))) {
      await write(at)
      start = end
    }
    at = end
  }
  await write(at)
}
