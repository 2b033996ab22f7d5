/** Programs that use the SDK under Bun and Node, told by a test what to do. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type * as Sdk from '@backlot/sdk'
import { until } from '../until.ts'
import { nodeProgram } from './node.ts'

/** The runtimes that the SDK is for, and its ways to a server. */
export const runtimes = ['bun', 'node'] as const
export const kinds = ['http', 'websocket', 'local'] as const
export type Runtime = (typeof runtimes)[number]
export type Kind = (typeof kinds)[number]

/** How it connects. */
export interface Way {
  readonly kind: Kind
  readonly url: string
  readonly apiKey?: string
}

/** An error as the program met it. */
export interface Met {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly output?: { readonly stdout: string; readonly stderr: string } | null
  readonly retryable?: boolean
  readonly isOurs: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: what a test keeps is of any type.
type Kept = Record<string, any>

/** What is done in the program: it sees nothing of the test but its argument, which travels as JSON, as its result does. */
export type Work<Argument, Result> = (
  computer: Sdk.Computer,
  argument: Argument,
  sdk: typeof Sdk,
  kept: Kept,
) => Promise<Result> | Result

/** A running program. */
export interface Driven extends AsyncDisposable {
  readonly pid: number
  /** Does it there; what is thrown there is thrown here, as an `Error` with what was met as its `cause`. */
  run<Result, Argument = void>(work: Work<Argument, Result>, argument: Argument): Promise<Result>
  /** The error that it throws there. */
  fails<Argument = undefined>(work: Work<Argument, unknown>, argument?: Argument): Promise<Met>
}

const built = new Map<string, Promise<string>>()
const folders: string[] = []

const remove = () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

// The end of a test file is no end of its process; a bench has no other.
if (process.env.NODE_ENV === 'test') (await import('bun:test')).afterAll(remove)
else process.on('exit', remove)

/** The program as Node runs it: one file that holds all it needs, and goes with the tests. */
const builtForNode = (name: string): Promise<string> => {
  const building =
    built.get(name) ??
    (async () => {
      const outdir = await mkdtemp(join(tmpdir(), 'sdk-program-'))
      folders.push(outdir)
      const { success, logs, outputs } = await Bun.build({
        entrypoints: [join(import.meta.dir, name)],
        outdir,
        target: 'node',
        format: 'esm',
        naming: '[name].mjs',
      })
      if (!success) throw new Error(logs.join('\n'))
      return outputs[0]?.path ?? ''
    })()
  built.set(name, building)
  return building
}

/** The words that start a program of this folder under a runtime. */
export const programWords = async (runtime: Runtime, name = 'program.ts'): Promise<[string, ...string[]]> =>
  runtime === 'bun' ? [process.execPath, join(import.meta.dir, name)] : [await nodeProgram(), await builtForNode(name)]

/** Starts one; disposing of it ends its input, and it with it. */
export const drive = async (
  runtime: Runtime,
  way: Way,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Driven> => {
  const child = Bun.spawn([...(await programWords(runtime)), JSON.stringify(way)], {
    env,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const waiting = new Map<number, (said: { result?: unknown; error?: Met }) => void>()
  let said = ''
  void (async () => {
    for await (const part of child.stderr.pipeThrough(new TextDecoderStream())) said += part
  })()
  let isOver = false
  const reading = (async () => {
    let text = ''
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (text + part).split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) {
        const message = JSON.parse(line) as { id: number; result?: unknown; error?: Met }
        waiting.get(message.id)?.(message)
        waiting.delete(message.id)
      }
    }
    isOver = true
    for (const tell of waiting.values()) {
      tell({ error: { name: 'Ended', message: `the program ended: ${said}`, isOurs: false } })
    }
  })()
  let last = 0
  const send = (code: string, argument: unknown) =>
    new Promise<{ result?: unknown; error?: Met }>((settle) => {
      if (isOver) return settle({ error: { name: 'Ended', message: `the program ended: ${said}`, isOurs: false } })
      last += 1
      waiting.set(last, settle)
      child.stdin.write(`${JSON.stringify({ id: last, code, argument })}\n`)
      child.stdin.flush()
    })
  return {
    pid: child.pid,
    async run(work, argument) {
      const { result, error } = await send(String(work), argument)
      if (error !== undefined) {
        throw new Error(`${runtime}, ${way.kind}: ${error.code ?? error.name}: ${error.message}`, { cause: error })
      }
      return result as never
    },
    async fails(work, argument) {
      const { result, error } = await send(String(work), argument)
      if (error !== undefined) return error
      throw new Error(`${runtime}, ${way.kind}: it did not fail, but gave ${JSON.stringify(result)}`)
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await until('the program to end', () => child.exitCode !== null || child.signalCode !== null)
      await reading
    },
  }
}

/** Every runtime with every way to a server. */
export const ways = runtimes.flatMap((runtime) => kinds.map((kind) => [runtime, kind] as const))
