/** Files and folders of guests, both ways. */
import { randomBytes } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'
import type { Host } from '../host/host.ts'
import type { Guest } from '../hypervisors/hypervisor.ts'
import { quoted } from '../hypervisors/qemu/guest/guest-exec.ts'
import type { GuestOutput } from '../hypervisors/qemu/guest/guest-stream.ts'
import { machineOf } from './guest.ts'

/** A file or folder of a guest, by its absolute path. */
export interface FileAsked {
  readonly name: string
  readonly storage: string | undefined
  readonly path: string
  /** Permission bits of a file that is new. */
  readonly mode: number
  /** Whether folders above it are made. */
  readonly makesParents: boolean
  readonly signal: AbortSignal
}

/** Milliseconds that a guest which is being started may take, and that its `tar` may. */
const startsWithinMs = 60_000
const packsWithinMs = 3_600_000

/** The guest of a file; throws `guest_file_failed` for one without Linux, whose agent has no shell for what is around it. */
const guestOf = async (host: Host, { name, storage, path }: FileAsked): Promise<Guest> => {
  const { guest, place } = await machineOf(host, name, storage, startsWithinMs)
  const { guestOs } = place.settings
  if (guestOs === 'linux') return guest
  const why = `"${path}" cannot be used: files are copied into and out of guests with Linux, and "${name}" has ${guestOs}`
  throw new Failure('guest_file_failed', `${why}. Copy over its network instead.`, { path, guestOs })
}

/** The bytes of a file. */
export const readFile = async (host: Host, asked: FileAsked): Promise<AsyncGenerator<Uint8Array>> =>
  (await guestOf(host, asked)).readFile(asked.path)

/** Writes a file whole or not at all. */
export const writeFile = async (
  host: Host,
  asked: FileAsked,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ path: string; size: number }> => {
  const guest = await guestOf(host, asked)
  return { path: asked.path, size: await guest.writeFile(asked.path, bytes, asked) }
}

/** The archive of what is in a folder. */
export const readFolder = async (host: Host, asked: FileAsked): Promise<AsyncGenerator<Uint8Array>> => {
  const guest = await guestOf(host, asked)
  const { path, signal } = asked
  const is = await guest.execute({ command: `[ -d ${quoted(path)} ]` }, startsWithinMs)
  if (is.exitCode !== 0) throw folderFailed('read', path, 'it is no folder')
  const limits = { timeoutMs: packsWithinMs, signal }
  return packed(path, await guest.stream({ command: `LC_ALL=C tar -C ${quoted(path)} -cf - .` }, limits))
}

/** What GNU's tar says of a file that is given as far as it was; its status is 1 then, which busybox has for every error. */
const changed =
  /(file changed as we read it|file removed before we read it|file shrank by \d+ bytes.*|socket ignored)$/i

/** Whether tar packed all that was there, by its status and its words. */
export const isPacked = (status: number, said: string): boolean =>
  status === 0 ||
  (status === 1 &&
    said
      .trim()
      .split('\n')
      .every((line) => changed.test(line)))

/** Characters of what tar says that are kept. */
const mostSaid = 64 * 1024

/** What tar says: whether it failed by words that are not kept any more, and the last of them. */
class TarWords {
  last = ''
  #isPacked = true

  add(words: string): void {
    this.last += words
    if (this.last.length <= 2 * mostSaid) return
    // A whole line more than is kept stays, if there is one.
    const at = this.last.lastIndexOf('\n', this.last.length - mostSaid) + 1 || this.last.length - mostSaid
    this.#isPacked &&= isPacked(1, this.last.slice(0, at))
    this.last = this.last.slice(at)
  }

  isPacked(status: number): boolean {
    return isPacked(status, this.last) && (status === 0 || this.#isPacked)
  }
}

const packed = async function* (
  path: string,
  output: AsyncGenerator<GuestOutput, number>,
): AsyncGenerator<Uint8Array, void> {
  const said = new TarWords()
  try {
    for (;;) {
      const { done, value } = await output.next()
      if (!done && value.stream === 'stdout') yield value.bytes
      else if (!done) said.add(Buffer.from(value.bytes).toString())
      else if (!said.isPacked(value))
        throw folderFailed('read', path, said.last.trim() || `tar ended with status ${value}`)
      else return
    }
  } finally {
    await output.return(0)
  }
}

/** Unpacks an archive into a folder, which is made where there is none. */
export const writeFolder = async (
  host: Host,
  asked: FileAsked,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ path: string; size: number }> => {
  const guest = await guestOf(host, asked)
  const { path } = asked
  const archive = `/tmp/.backlot-${randomBytes(16).toString('hex')}.tar`
  const size = await guest.writeFile(archive, bytes, { mode: 0o600, makesParents: false })
  const command = `t=${archive} p=${quoted(path)}
mkdir -p "$p" && tar -C "$p" -xf "$t"
status=$?
rm -f "$t"
exit $status`
  const { exitCode, stderr } = await guest.execute({ command }, packsWithinMs)
  if (exitCode !== 0) throw folderFailed('written', path, stderr.trim().split('\n').at(-1) ?? '')
  return { path, size }
}

const folderFailed = (done: string, path: string, why: string): Failure =>
  new Failure('guest_file_failed', `The folder "${path}" in the guest cannot be ${done}: ${why.replace(/\.$/, '')}.`, {
    path,
  })
