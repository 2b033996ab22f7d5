/** The log of a sandbox, of which what its programs write at will takes only so much of the disk. */
import { appendFileSync, renameSync, statSync } from 'node:fs'

/** Bytes after which another file is begun; one before it is kept. */
const mostBytes = 2_000_000

/** Takes what is written to the log of a sandbox, under whatever name it has then. */
export const logAt = (folder: { readonly log: string }) => {
  let length = 0
  try {
    length = statSync(folder.log).size
  } catch {}
  const write = (bytes: Uint8Array | string): void => {
    try {
      if (length > mostBytes) {
        renameSync(folder.log, `${folder.log}.1`)
        length = 0
      }
      appendFileSync(folder.log, bytes, { mode: 0o600 })
      length += bytes.length
    } catch {
      // A full disk costs the log, not the sandbox.
    }
  }
  return {
    /** Writes a line of ours, with the time. */
    say: (text: string): void => write(`${new Date().toISOString()} sandbox: ${text}\n`),
    /** Writes all that comes, to the end. */
    async follow(stream: ReadableStream<Uint8Array>): Promise<void> {
      for await (const bytes of stream) write(bytes)
    },
  }
}
