/** Archives that the kernel reads as its initial RAM disk: cpio in the "newc" format (initramfs buffer format). */

/** One entry; its `mode` holds type and permission bits, as stat(2) gives them. */
export interface CpioEntry {
  readonly path: string
  readonly mode: number
  readonly data?: Uint8Array
  /** Major and minor number of a device. */
  readonly device?: readonly [number, number]
}

/** Folders, regular files and character devices. */
export const fileType = { folder: 0o040000, file: 0o100000, device: 0o020000, link: 0o120000 } as const

const padding = (length: number): Uint8Array => new Uint8Array((4 - (length % 4)) % 4)

const member = (entry: CpioEntry, inode: number): Uint8Array[] => {
  const name = new TextEncoder().encode(`${entry.path}\0`)
  const data = entry.data ?? new Uint8Array()
  const [major, minor] = entry.device ?? [0, 0]
  const fields = [inode, entry.mode, 0, 0, 1, 0, data.length, 0, 0, major, minor, name.length, 0]
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`
  return [new TextEncoder().encode(header), name, padding(header.length + name.length), data, padding(data.length)]
}

/** The archive, uncompressed: under emulation unpacking costs more than reading. */
export const cpio = (entries: readonly CpioEntry[]): Uint8Array =>
  Buffer.concat([...entries, { path: 'TRAILER!!!', mode: 0 }].flatMap((entry, index) => member(entry, index + 1)))
