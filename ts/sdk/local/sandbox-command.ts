/** `backlot local`: what acts for the runtime of the same name. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorFor } from '../answer.ts'
import type { Fields } from '../basics.ts'
import { ConnectionError } from '../errors.ts'
import { findExecutable } from './executable.ts'

/** Runs it with an input to its end and gives what it printed; throws the failure that it tells, or an `AbortError` when it is interrupted. `signal` ends it, and what it had begun. */
export const runLocal = async (words: readonly string[], signal: AbortSignal, input = ''): Promise<Fields> => {
  const program = await findExecutable()
  // In a session of its own: a terminal's Ctrl+C is for this program, which then has what was begun to its end, and removes it.
  const child = spawn(program, ['local', '--json', ...words], { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  // One that ended before it read all says why.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  let text = ''
  let errors = ''
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString()
  })
  child.stderr.on('data', (piece: Buffer) => {
    errors = (errors + piece.toString()).slice(-2_000)
  })
  const end = () => child.kill('SIGTERM')
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  const ended = await new Promise<string>((settle) => {
    child.once('error', (error) => settle(error.message))
    child.once('close', (code, name) => settle(name === null ? `status ${code}` : name))
  })
  signal.removeEventListener('abort', end)
  // A Ctrl+C that came before the child had its session was for this program too, which may hear it a moment later, or never.
  if (ended === 'SIGINT') await sleep(1_000, undefined, { signal }).catch(() => undefined)
  signal.throwIfAborted()
  if (ended === 'SIGINT') throw new DOMException(`"${program} local ${words[0]}" was interrupted.`, 'AbortError')
  const answer = parsed(text)
  if (answer === undefined) {
    throw new ConnectionError(
      'invalid_response',
      `"${program} local ${words[0]}" said nothing that can be read (${ended}): ${errors.trim()}. Install a current Backlot.`,
      { data: { program } },
    )
  }
  const { error } = answer as { error?: { code: string; message: string; data: Fields } }
  if (error !== undefined) throw errorFor(error.code, error.message, error.data)
  return answer
}

/** Layers of an image: kept already, or for this program to make and keep until it is disposed of. */
export interface HeldLayers extends AsyncDisposable {
  readonly cached: boolean
  /** Null where no layers are kept, because new sandboxes have no own root. */
  readonly name: string | null
}

/** Asks whether layers are kept, and holds them where not: another program that wants to make them waits. */
export const holdLayers = async (hash: string, signal: AbortSignal): Promise<HeldLayers> => {
  const program = await findExecutable()
  const child = spawn(program, ['local', '--json', 'layers', hash], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  })
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((settle) => child.once('exit', () => settle()).once('error', () => settle()))
  const end = () => child.stdin.end()
  signal.addEventListener('abort', end, { once: true })
  const dispose = async () => {
    signal.removeEventListener('abort', end)
    end()
    await ended
  }
  if (signal.aborted) end()
  for await (const line of createInterface({ input: child.stdout })) {
    const { error, cached, name } = parsed(line) as Fields & { error?: { code: string; message: string; data: Fields } }
    if (error === undefined)
      return { cached: cached === true, name: name as string | null, [Symbol.asyncDispose]: dispose }
    await dispose()
    signal.throwIfAborted()
    throw errorFor(error.code, error.message, error.data)
  }
  await dispose()
  signal.throwIfAborted()
  throw new ConnectionError('invalid_response', `"${program} local layers" said nothing; install a current Backlot.`, {
    data: { program },
  })
}

const parsed = (text: string): Fields | undefined => {
  try {
    return JSON.parse(text) as Fields
  } catch {
    return undefined
  }
}

/** The lines of a sandbox's log, to its end or as long as they are read. */
export async function* localLogs(
  name: string,
  follow: boolean,
  signal: AbortSignal | undefined,
): AsyncIterable<string> {
  const program = await findExecutable()
  const child = spawn(program, ['local', 'logs', ...(follow ? ['--follow'] : []), '--', name], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const end = () => child.kill('SIGTERM')
  signal?.addEventListener('abort', end, { once: true })
  try {
    yield* createInterface({ input: child.stdout })
    signal?.throwIfAborted()
  } finally {
    signal?.removeEventListener('abort', end)
    end()
  }
}
