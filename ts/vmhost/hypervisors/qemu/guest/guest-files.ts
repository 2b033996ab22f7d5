/** Files in a guest with Linux, read and written through its agent (guest-file-open, guest-file-read, guest-file-write). */
import { randomBytes } from 'node:crypto'
import { Failure } from '@backlot/contract/failure'
import { type AgentTimeouts, askAgentAll } from './agent.ts'
import { type GuestCommand, type GuestResult, quoted, silentMs } from './guest-exec.ts'

/** What files need of a guest. */
export interface FileGuest {
  readonly socket: string
  readonly patience: AgentTimeouts
  /** Runs a command of the guest's shell that takes little. */
  execute(command: GuestCommand): Promise<GuestResult>
}

/** Bytes that the agent is given or asked for at a time. */
const partBytes = 512 * 1024

/** Words for a shell that end it, with a reason, where a path in `$p` names no file. */
const refuseOthers = `if [ -d "$p" ]; then echo it is a folder; exit 3; fi
if [ -e "$p" ] && [ ! -f "$p" ]; then echo it is no plain file; exit 3; fi`

/** Opens a file and gives its bytes as they are read. Throws `guest_file_failed` and `agent_unavailable`. */
export const readGuestFile = async (guest: FileGuest, path: string): Promise<AsyncGenerator<Uint8Array>> => {
  // The agent stands still where it opens a pipe.
  const looked = await say(guest, path, `${refuseOthers}\n[ -e "$p" ] || { echo there is none; exit 3; }`)
  if (looked.exitCode !== 0) throw fileFailed('read', path, looked)
  const handle = (await ask(guest, path, 'guest-file-open', { path, mode: 'r' })) as number
  return parts(guest, path, handle)
}

const parts = async function* (guest: FileGuest, path: string, handle: number): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { 'buf-b64': base64 = '', eof } = (await ask(guest, path, 'guest-file-read', {
        handle,
        count: partBytes,
      })) as { 'buf-b64'?: string; eof: boolean }
      if (base64 !== '') yield Buffer.from(base64, 'base64')
      if (eof) return
    }
  } finally {
    await ask(guest, path, 'guest-file-close', { handle }).catch(() => undefined)
  }
}

/** How a file is written. */
export interface FileOptions {
  /** Permission bits of one that is new. */
  readonly mode: number
  /** Whether folders above it are made. */
  readonly makesParents: boolean
}

/**
 * Writes a file whole or not at all, and gives its size; one that was there before gives it owner and permissions. Throws
 * `guest_file_failed` and `agent_unavailable`, and what the bytes throw.
 */
export const writeGuestFile = async (
  guest: FileGuest,
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { mode, makesParents }: FileOptions,
): Promise<number> => {
  const suffix = `.backlot-${randomBytes(8).toString('hex')}`
  const parents = makesParents ? 'mkdir -p "$(dirname "$p")" 2>&1 || exit 3' : ''
  // What echo prints depends on the shell where there are backslashes, and $( ) drops lines that are empty at its end.
  const resolve = `real=$(readlink -f "$p" && echo .) && p=\${real%??}`
  const prepare = `${resolve}\n${refuseOthers}\n${parents}\numask 077\n: 2>&1 >"$p${suffix}" && printf %s "$p"`
  const prepared = await say(guest, path, prepare)
  if (prepared.exitCode !== 0) throw fileFailed('written', path, prepared)
  const real = prepared.stdout
  const unfinished = `${real}${suffix}`
  try {
    const size = await fill(guest, unfinished, bytes)
    const finish = `t=${quoted(unfinished)}
if [ -e "$p" ]; then chown "$(stat -c %u:%g "$p")" "$t" && chmod "$(stat -c %a "$p")" "$t"; else chmod ${mode.toString(8)} "$t"; fi 2>&1 &&
mv -f "$t" "$p" 2>&1`
    const finished = await say(guest, real, finish)
    if (finished.exitCode !== 0) throw fileFailed('written', path, finished)
    return size
  } catch (error) {
    await say(guest, unfinished, 'rm -f "$p"').catch(() => undefined)
    throw error
  }
}

const fill = async (guest: FileGuest, path: string, bytes: AsyncIterable<Uint8Array>): Promise<number> => {
  // One that is there keeps its permissions, which the agent would give to all otherwise.
  const handle = (await ask(guest, path, 'guest-file-open', { path, mode: 'a' })) as number
  let size = 0
  let isOpen = true
  const close = async () => {
    isOpen = false
    // What the guest has not written yet it writes now, and says where there is no room.
    await ask(guest, path, 'guest-file-close', { handle })
  }
  try {
    for await (const piece of inParts(bytes)) {
      await ask(guest, path, 'guest-file-write', { handle, 'buf-b64': piece.toString('base64') })
      size += piece.length
    }
    await close()
    return size
  } finally {
    if (isOpen) await close().catch(() => undefined)
  }
}

/** The bytes in pieces of one size, but for the last. */
const inParts = async function* (bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let length = 0
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length; at += partBytes) {
      const part = Buffer.from(piece.subarray(at, at + partBytes))
      held.push(part)
      length += part.length
      if (length < partBytes) continue
      yield Buffer.concat(held)
      held = []
      length = 0
    }
  }
  if (length > 0) yield Buffer.concat(held)
}

/** Runs words of a shell that know the path as `$p`. */
const say = (guest: FileGuest, path: string, words: string): Promise<GuestResult> =>
  guest.execute({ command: `p=${quoted(path)}\n${words}` })

/** Has the agent do something with a file. Throws `guest_file_failed` where it refuses. */
const ask = async ({ socket, patience }: FileGuest, path: string, command: string, parameters: object) => {
  const heard = { until: Date.now() + silentMs, isGone: patience.isGone }
  const [answer] = await askAgentAll(socket, [{ execute: command, arguments: parameters }], heard)
  if (answer !== undefined && 'returned' in answer) return answer.returned
  throw new Failure('guest_file_failed', `The file "${path}" in the guest cannot be used: ${answer?.refused}.`, {
    path,
  })
}

const fileFailed = (done: string, path: string, { stdout, stderr }: GuestResult): Failure => {
  const why = `${stdout}${stderr}`.trim().split('\n').at(-1) || 'the guest does not say why'
  return new Failure('guest_file_failed', `The file "${path}" in the guest cannot be ${done}: ${why}.`, { path })
}
