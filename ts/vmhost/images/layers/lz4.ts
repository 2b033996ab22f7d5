/**
 * LZ4 unpacked as a stream: its blocks (lz4's description of its block format), in the frames of lz4 itself (frame format 1.6) and
 * in those of Apple's Compression, which clients on Macs write. Sums in frames are not looked at: layers have a digest.
 */
import { ByteSource } from './byte-source.ts'

/** Bytes before a block to which it may refer. */
const window = 64 * 1024

/** Bytes that a block of a frame may have, unpacked: more than any program writes. */
const largestBlock = 2 ** 26

/** One block as its frame has it: packed or as it is; `bytes` is how many it has unpacked, at most. */
interface Block {
  readonly data: Buffer
  readonly isPacked: boolean
  readonly bytes: number
}

/** Unpacks frames of either kind, which follow one another; throws an `Error` where they are damaged. */
export async function* unpackLz4(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = new ByteSource(stream)
  for (;;) {
    const magic = (await source.take(4))?.toString('latin1')
    if (magic === undefined) return
    const blocks = magic === lz4Magic ? blocksOfLz4(source) : blocksOfApple(source, magic)
    let before: Buffer = Buffer.alloc(0)
    for await (const { data, isPacked, bytes } of blocks) {
      const unpacked = isPacked ? unpackBlock(data, bytes, before) : data
      yield unpacked
      before =
        unpacked.length >= window ? unpacked.subarray(-window) : Buffer.concat([before, unpacked]).subarray(-window)
    }
  }
}

const lz4Magic = '\x04\x22\x4d\x18'

/** Flags of a frame's header. */
const flags = { blockSum: 0x10, size: 0x08, sum: 0x04, dictionary: 0x01 } as const

async function* blocksOfLz4(source: ByteSource): AsyncGenerator<Block> {
  const [flag = 0, sizes = 0] = await source.exactly(2)
  if (flag >> 6 !== 1 || (flag & flags.dictionary) !== 0) throw new Error('it is LZ4 of a version that is not known')
  const bytes = 2 ** (8 + 2 * ((sizes >> 4) & 7))
  await source.exactly((flag & flags.size ? 8 : 0) + 1)
  for (;;) {
    const length = (await source.exactly(4)).readUInt32LE()
    if (length === 0) break
    const data = await source.exactly(limited(length & 0x7fffffff))
    yield { data, isPacked: length < 2 ** 31, bytes }
    if (flag & flags.blockSum) await source.exactly(4)
  }
  if (flag & flags.sum) await source.exactly(4)
}

async function* blocksOfApple(source: ByteSource, first: string): AsyncGenerator<Block> {
  for (let magic = first; magic !== 'bv4$'; magic = (await source.exactly(4)).toString('latin1')) {
    if (magic !== 'bv41' && magic !== 'bv4-') throw new Error('it is no LZ4')
    const isPacked = magic === 'bv41'
    const bytes = limited((await source.exactly(4)).readUInt32LE())
    const length = isPacked ? limited((await source.exactly(4)).readUInt32LE()) : bytes
    yield { data: await source.exactly(length), isPacked, bytes }
  }
}

const limited = (bytes: number): number => {
  if (bytes > largestBlock) throw new Error('it has a block that is too long')
  return bytes
}

/** The content of a block of at most `bytes` bytes, which may repeat what is `before` it. */
const unpackBlock = (data: Buffer, bytes: number, before: Buffer): Buffer => {
  const out = Buffer.allocUnsafe(before.length + bytes)
  let end = before.copy(out)
  let at = 0
  const lengthOf = (nibble: number): number => {
    let length = nibble
    for (let more = nibble === 15 ? 255 : 0; more === 255; length += more) more = byteAt(data, at++)
    return length
  }
  for (;;) {
    const token = byteAt(data, at++)
    const literals = lengthOf(token >> 4)
    if (at + literals > data.length || end + literals > out.length) throw damaged()
    data.copy(out, end, at, at + literals)
    at += literals
    end += literals
    // The last sequence has literals only.
    if (at === data.length) return out.subarray(before.length, end)
    const distance = byteAt(data, at) | (byteAt(data, at + 1) << 8)
    at += 2
    const length = lengthOf(token & 15) + 4
    if (distance === 0 || distance > end || end + length > out.length) throw damaged()
    repeat(out, end, distance, length)
    end += length
  }
}

/** Copies from `distance` before `end`; what is longer than that repeats itself. */
const repeat = (out: Buffer, end: number, distance: number, length: number): void => {
  for (let done = 0; done < length; ) {
    // What was written on the way doubles what can be copied at once.
    const part = Math.min(length - done, distance + done)
    out.copyWithin(end + done, end - distance, end - distance + part)
    done += part
  }
}

const byteAt = (data: Buffer, at: number): number => {
  const byte = data[at]
  if (byte === undefined) throw damaged()
  return byte
}

const damaged = () => new Error('its LZ4 is damaged')
