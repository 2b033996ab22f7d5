/** Arguments from standard input. */
import { fstatSync } from 'node:fs'

/** Milliseconds in which a pipe must begin to deliver when nobody said that it will. */
const firstByteMs = 100

/**
 * Reads standard input to its end.
 * `expected`: the caller asked for it (`-`, or `call TOOL` without arguments), so it is waited for.
 * Otherwise a terminal, a device and a closed pipe hold nothing, and an open pipe that delivers nothing within a moment
 * belongs to somebody else, as when a program runs us with a pipe of its own: then the result is undefined.
 */
export const readInput = async (expected: boolean): Promise<string | undefined> => {
  const stats = fstatSync(0)
  if (stats.isCharacterDevice() && !expected) return ''
  const reader = Bun.stdin.stream().getReader()
  const first = expected ? await reader.read() : await Promise.race([reader.read(), Bun.sleep(firstByteMs)])
  if (first === undefined) return undefined
  const chunks: Uint8Array[] = []
  for (let read = first; !read.done; read = await reader.read()) chunks.push(read.value)
  return new TextDecoder().decode(Buffer.concat(chunks))
}
