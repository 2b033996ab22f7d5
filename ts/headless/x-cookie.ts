/** The X server's key: who does not know it is not let in. */

const bigEndian16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])

const counted = (bytes: Buffer): Buffer => Buffer.concat([bigEndian16(bytes.length), bytes])

/**
 * An Xauthority file with one MIT-MAGIC-COOKIE-1 of 16 bytes for every host and display (Xau(3): family, address,
 * number, name and data, each but the family with its length before it, all 16-bit numbers big-endian).
 * The display's number is left empty because the server reads the file before it has chosen one.
 */
export const xAuthority = (cookie: Uint8Array): Buffer => {
  const familyWild = 0xffff
  const empty = Buffer.alloc(0)
  return Buffer.concat([
    bigEndian16(familyWild),
    counted(empty),
    counted(empty),
    counted(Buffer.from('MIT-MAGIC-COOKIE-1')),
    counted(Buffer.from(cookie)),
  ])
}
