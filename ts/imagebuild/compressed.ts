/** What Debian compresses kernels and modules with, known by the first bytes. */

import { Failure } from '@backlot/contract/failure'
import { gunzipSync, zstdDecompressSync } from 'bun'
import { run } from './run.ts'

interface Kind {
  readonly magic: readonly number[]
  readonly unpack: (data: Uint8Array<ArrayBuffer>) => Promise<Uint8Array> | Uint8Array
}

const kinds: readonly Kind[] = [
  { magic: [0x7f, 0x45, 0x4c, 0x46], unpack: (data) => data },
  {
    magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
    unpack: (data) => run('xz', ['-dc', '--single-stream'], { input: data }),
  },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], unpack: (data) => zstdDecompressSync(data) },
  { magic: [0x1f, 0x8b], unpack: (data) => gunzipSync(data) },
]

/** The ELF file in `data`; `name` is for the message. Throws `image_not_built` for a compression that is not known. */
export const unpacked = async (data: Uint8Array<ArrayBuffer>, name: string): Promise<Uint8Array> => {
  const kind = kinds.find(({ magic }) => magic.every((byte, index) => data[index] === byte))
  if (kind !== undefined) return kind.unpack(data)
  throw new Failure(
    'image_not_built',
    `"${name}" is compressed in a way that is not known here (it begins with ${Buffer.from(data.subarray(0, 4)).toString('hex')}). Build the image on Debian 12 or later.`,
    { file: name },
  )
}

/**
 * The bare kernel inside a bzImage (Linux boot protocol, 2.08 and later: `payload_offset`, `payload_length`).
 * Started through its PVH entry it needs no unpacking in the guest, which takes seconds under emulation.
 */
export const bareKernel = (image: Uint8Array<ArrayBuffer>, name: string): Promise<Uint8Array> => {
  const view = new DataView(image.buffer, image.byteOffset, image.byteLength)
  const setup = ((image[0x1f1] || 4) + 1) * 512
  const start = setup + view.getUint32(0x248, true)
  // The four bytes at the end are the unpacked length, which is no part of the stream.
  const end = start + view.getUint32(0x24c, true) - 4
  return unpacked(image.slice(start, end), name)
}
