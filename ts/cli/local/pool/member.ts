/** A sandbox of a pool, as its owner has it: the process that looks after it, started, asked and ended. */

import { codeOf, Failure } from '@backlot/contract/failure'
import { linesOf } from '@backlot/contract/lines'
import { type NewSandbox, type SandboxInfo, sandboxesFolder, sweep } from '@backlot/local'
import { startDetached } from '../detached.ts'
import type { FailureLine } from '../supervise.ts'
import type { PoolMessage } from './waiting.ts'

/** What each sandbox of a pool is started as. */
export interface PoolKind {
  readonly wanted: NewSandbox
  readonly timeoutMs: number
  /** Layers of an image, which each one is given before it waits. */
  readonly layers: readonly unknown[]
}

/** A sandbox that waits. */
export interface Member {
  readonly info: SandboxInfo
  /** Settles when it has ended. */
  readonly ended: Promise<unknown>
  /** Says something to it and gives its answer; throws the failure that it tells, `sandbox_not_found` where it says nothing. */
  ask(order: PoolMessage): Promise<Record<string, unknown>>
  /** Leaves it to itself, when somebody has it. */
  leave(): void
  /** Ends it and removes it. */
  end(): Promise<void>
}

/** Milliseconds that it may take to answer, and to end. */
const answerMs = 5_000
const endMs = 10_000

/** Starts one; throws what kept it from starting, `layer_failed` told as `sandbox_not_started`. */
export const startMember = async (kind: PoolKind): Promise<Member> => {
  const child = startDetached(['wait'], 'pipe')
  const lines = linesOf(child.stdout)
  const ask = (question: object): Promise<Record<string, unknown>> => {
    child.stdin.write(`${JSON.stringify(question)}\n`)
    child.stdin.flush()
    return answerIn(lines)
  }
  let isSilent = false
  const end = async () => {
    child.stdin.end()
    const late = setTimeout(() => child.kill('SIGKILL'), isSilent ? 0 : endMs)
    await child.exited
    clearTimeout(late)
    // One that was killed leaves its files.
    if (child.signalCode !== null) await sweep(sandboxesFolder())
  }
  try {
    const info = (await ask({ wanted: kind.wanted, timeoutMs: kind.timeoutMs })) as unknown as SandboxInfo
    await build(info, kind.layers)
    return {
      info,
      ended: child.exited,
      end,
      async ask(order) {
        const { promise, reject } = Promise.withResolvers<never>()
        const late = setTimeout(() => {
          isSilent = true
          reject(silent())
        }, answerMs)
        return Promise.race([ask(order), promise]).finally(() => clearTimeout(late))
      },
      leave() {
        child.stdin.end()
        child.unref()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** The next answer of a sandbox; throws the failure that it tells. */
const answerIn = async (lines: AsyncIterator<string, unknown>): Promise<Record<string, unknown>> => {
  const { done, value: line } = await lines.next()
  if (done) throw silent()
  const answer = JSON.parse(line) as Record<string, unknown> & { error?: FailureLine }
  if (answer.error === undefined) return answer
  const { code, message, data } = answer.error
  throw new Failure(codeOf(code), message, data)
}

const silent = (): Failure => new Failure('sandbox_not_found', 'A sandbox of the pool has ended or does not answer.')

const build = async ({ api_url, api_key }: SandboxInfo, layers: readonly unknown[]): Promise<void> => {
  if (layers.length === 0) return
  const { LayerExecutor } = await import('@backlot/sdk')
  try {
    await new LayerExecutor(String(api_url), { apiKey: api_key }).executeLayers(layers as never)
  } catch (error) {
    throw new Failure('sandbox_not_started', `A sandbox of the pool was not built: ${(error as Error).message}`)
  }
}
