/** Bytes as text, in every runtime: base64 (RFC 4648, 4) and hexadecimal. */
import type { Bytes } from './basics.ts'

/** The bytes of a base64 text. */
export const fromBase64 = (text: string): Bytes => {
  // The same memory would be a pool's that others use too.
  if (typeof Buffer === 'function') return new Uint8Array(Buffer.from(text, 'base64'))
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}

/** Characters of a piece that is turned into text at once. */
const pieceLength = 0x8000

/** The base64 text of bytes. */
export const toBase64 = (bytes: Uint8Array): string => {
  if (typeof Buffer === 'function') {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  }
  let binary = ''
  for (let at = 0; at < bytes.byteLength; at += pieceLength) {
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceLength))
  }
  return btoa(binary)
}

/** Two hexadecimal digits for each byte. */
export const toHex = (bytes: Uint8Array): string =>
  [...bytes].map((each) => each.toString(16).padStart(2, '0')).join('')
