/** Tar archives (POSIX ustar, with pax and GNU names), read as a stream. */
import { ByteSource } from './byte-source.ts'

const block = 512

/** An entry of an archive, and its content, which must be read to its end before the next. */
export interface TarEntry {
  readonly name: string
  readonly bytes: number
  readonly isFile: boolean
  readonly content: AsyncIterable<Buffer>
}

/** The entries in turn; content that is not read is skipped. Throws an `Error` where the archive breaks off. */
export async function* tarEntries(stream: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const source = new ByteSource(stream)
  let longName: string | undefined
  for (;;) {
    const header = await source.take(block)
    if (header === undefined || header.every((byte) => byte === 0)) return
    const bytes = sizeIn(header)
    const type = String.fromCharCode(header[156] ?? 0)
    let left = bytes
    const content = async function* () {
      while (left > 0) {
        const part = await source.some(left)
        left -= part.length
        yield part
      }
    }
    if (type === 'L' || type === 'x') {
      if (bytes > 2 ** 16) throw new Error('it has a name that is too long')
      const text = (await source.take(bytes))?.toString('utf8') ?? ''
      left = 0
      longName = type === 'L' ? text.replace(/\0.*$/s, '') : (/^\d+ path=(.*)$/m.exec(text)?.[1] ?? longName)
    } else {
      const prefix = header.toString('latin1', 257, 262) === 'ustar' ? textAt(header, 345, 155) : ''
      const name = longName ?? [prefix, textAt(header, 0, 100)].filter(Boolean).join('/')
      longName = undefined
      yield { name, bytes, isFile: type === '0' || type === '\0', content: content() }
      while (left > 0) left -= (await source.some(left)).length
    }
    await source.take((block - (bytes % block)) % block)
  }
}

const textAt = (header: Buffer, start: number, length: number): string =>
  header.toString('utf8', start, start + length).replace(/\0.*$/s, '')

/** Octal digits, or with the first bit set a number of eleven bytes. */
const sizeIn = (header: Buffer): number => {
  const isBinary = ((header[124] ?? 0) & 0x80) !== 0
  const size = isBinary
    ? Number(header.readBigUInt64BE(128))
    : Number.parseInt(textAt(header, 124, 12).trim() || '0', 8)
  if (Number.isSafeInteger(size) && size >= 0) return size
  throw new Error('it is no archive')
}
