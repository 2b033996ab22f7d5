/** The little of ELF (System V ABI, generic 64-bit objects) that says which libraries a program needs. */

const programHeader = { load: 1, dynamic: 2, interpreter: 3 } as const
const tag = { needed: 1, stringTable: 5 } as const

/** Names of the libraries and, for a program, its loader's path; undefined for what is not a 64-bit little-endian ELF. */
export const elfNeeds = (
  bytes: Uint8Array,
): { libraries: readonly string[]; interpreter: string | undefined } | undefined => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 64 || view.getUint32(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1) return undefined
  const long = (at: number): number => Number(view.getBigUint64(at, true))
  const start = long(32)
  const size = view.getUint16(54, true)
  const headers = Array.from({ length: view.getUint16(56, true) }, (_, index) => {
    const at = start + index * size
    return { type: view.getUint32(at, true), offset: long(at + 8), address: long(at + 16), length: long(at + 32) }
  })
  const text = (at: number): string => new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)))
  const placeOf = (address: number): number => {
    const load = headers.find(
      (header) =>
        header.type === programHeader.load && address >= header.address && address < header.address + header.length,
    )
    return load === undefined ? -1 : address - load.address + load.offset
  }
  const loader = headers.find(({ type }) => type === programHeader.interpreter)
  const dynamic = headers.find(({ type }) => type === programHeader.dynamic)
  const entries =
    dynamic === undefined
      ? []
      : Array.from({ length: dynamic.length / 16 }, (_, index) => {
          const at = dynamic.offset + index * 16
          return { tag: long(at), value: long(at + 8) }
        })
  const strings = placeOf(entries.find((entry) => entry.tag === tag.stringTable)?.value ?? -1)
  return {
    libraries: entries.filter((entry) => entry.tag === tag.needed).map((entry) => text(strings + entry.value)),
    interpreter: loader === undefined ? undefined : text(loader.offset),
  }
}
