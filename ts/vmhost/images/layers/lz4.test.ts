/** What lz4's own program packed is unpacked, in its frames and in Apple's. */
import { expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { appleLz4, lz4 } from '../../../../tests/support/lz4.ts'
import { unpackLz4 } from './lz4.ts'

/** In pieces that end anywhere. */
async function* inPieces(bytes: Buffer, most: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += most) yield bytes.subarray(at, at + most)
}

const unpacked = async (packed: Buffer, most = 7_919): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(unpackLz4(inPieces(packed, most))))

/** Text that repeats itself over blocks, bytes that nothing packs, runs of one byte, and a short end. */
const content = Buffer.concat([
  Buffer.from(Array.from({ length: 20_000 }, (_, index) => `line ${index % 4_000} of ${index}\n`).join('')),
  randomBytes(200_000),
  Buffer.alloc(300_000),
  Buffer.from('abcabcabc'.repeat(9_000)),
  Buffer.from('end'),
])

const kinds: Readonly<Record<string, (bytes: Uint8Array) => Buffer>> = {
  'blocks that stand alone': (bytes) => lz4(bytes),
  'blocks that refer to those before': (bytes) => lz4(bytes, '-B4', '-BD', '-9'),
  'sums of blocks, and the size': (bytes) => lz4(bytes, '-B5', '-BX', '--content-size'),
  'two frames': (bytes) => Buffer.concat([lz4(bytes.subarray(0, 99_999)), lz4(bytes.subarray(99_999))]),
  "Apple's frames": appleLz4,
}

for (const [kind, pack] of Object.entries(kinds)) {
  test(`${kind} are unpacked`, async () => {
    for (const bytes of [content, content.subarray(0, 1), content.subarray(0, 0)]) {
      expect((await unpacked(pack(bytes))).equals(bytes)).toBe(true)
    }
  })
}

test('what is damaged or breaks off is refused, wherever that is', async () => {
  const short = Buffer.from('the same again, and the same again, and the same again')
  for (const packed of [lz4(short, '--no-frame-crc'), appleLz4(short)]) {
    expect((await unpacked(packed, 1)).equals(short)).toBe(true)
    for (let end = 1; end < packed.length; end++) {
      await expect(unpacked(packed.subarray(0, end))).rejects.toThrow()
    }
    for (let at = 0; at < packed.length; at++) {
      const changed = Buffer.from(packed)
      changed[at] = (changed[at] ?? 0) ^ 0xff
      // It is refused, or something else: it neither hangs nor reads elsewhere.
      await unpacked(changed).then(
        (bytes) => expect(bytes.length).toBeLessThan(2 ** 26),
        (error) => expect((error as Error).message).toMatch(/^it/),
      )
    }
  }
})
