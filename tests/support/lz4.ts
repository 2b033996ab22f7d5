/** Bytes packed by lz4's own program. */

/** In frames of its own; `options` are those of the program. */
export const lz4 = (bytes: Uint8Array, ...options: readonly string[]): Buffer => {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['lz4', '-c', '-q', ...options, '-'], { stdin: bytes })
  if (exitCode !== 0) throw new Error(stderr.toString())
  return Buffer.from(stdout)
}

/** The program's blocks of 64 KiB, each of which refers to those before it, in the frames of Apple's Compression. */
export const appleLz4 = (bytes: Uint8Array): Buffer => {
  const packed = lz4(bytes, '-B4', '-BD', '--no-frame-crc')
  const blocks: Buffer[] = []
  let left = bytes.length
  // The header has seven bytes where no sizes are asked for.
  for (let at = 7; ; ) {
    const length = packed.readUInt32LE(at)
    if (length === 0) break
    const isPacked = length < 2 ** 31
    const data = packed.subarray(at + 4, at + 4 + (length & 0x7fffffff))
    const header = Buffer.alloc(isPacked ? 12 : 8)
    header.write(isPacked ? 'bv41' : 'bv4-')
    header.writeUInt32LE(Math.min(left, 2 ** 16), 4)
    if (isPacked) header.writeUInt32LE(data.length, 8)
    blocks.push(header, data)
    left -= 2 ** 16
    at += 4 + data.length
  }
  return Buffer.concat([...blocks, Buffer.from('bv4$')])
}
