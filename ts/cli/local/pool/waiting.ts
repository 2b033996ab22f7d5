/** `backlot local wait`: the process that looks after one sandbox of a pool, and later of who claimed it. */

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { linesOf } from '@backlot/contract/lines'
import {
  type Claim,
  type ClaimedSandbox,
  createSandbox,
  handOut,
  isWell,
  markWhole,
  type NewSandbox,
  type RunningSandbox,
  type SandboxFolder,
  type SandboxRecord,
  sandboxesFolder,
  startSandbox,
} from '@backlot/local'
import { executableForSandboxes } from '../../compose/local.ts'
import { printJson } from '../../terminal/output.ts'
import { expiry, failureLine, removeUnlessHeld, signalled } from '../supervise.ts'

/** What the owner of the pool says, a line of JSON each. */
export type PoolMessage = { readonly claim: Claim } | { readonly keep: true } | { readonly check: true }

/** What is answered, a line of JSON each: its info at first and when it was claimed, how it is, or a failure. */
type MemberMessage = object

/**
 * Reads what sandbox to start, starts it and waits for orders; the sandbox ends at the end of the orders, which is that of
 * the pool's owner, unless somebody has claimed it.
 */
export const waitInPool = async (): Promise<number> => {
  const orders = linesOf(Bun.stdin.stream())
  const first = await orders.next()
  if (first.value === undefined) return 1
  const { wanted, timeoutMs } = JSON.parse(first.value) as { wanted: NewSandbox; timeoutMs: number }
  const stop = new AbortController()
  void signalled(['SIGTERM']).then(() => stop.abort())
  let next = orders.next()
  void next.then(({ value }) => value === undefined && stop.abort())
  const executable = await executableForSandboxes()
  if (stop.signal.aborted) return 1
  const name = `pool-${randomBytes(8).toString('hex')}`
  const made = await createSandbox(sandboxesFolder(), { ...wanted, name, ephemeral: true })
  const { folder, record } = made
  let running: RunningSandbox
  try {
    running = await startSandbox({ folder, record, executable, timeoutMs, signal: stop.signal })
  } catch (error) {
    await folder.remove()
    made.lock.release()
    await printJson(failureLine(error))
    return 1
  }
  const stopped = new Promise<undefined>((settle) => stop.signal.addEventListener('abort', () => settle(undefined)))
  const nextOrder = async (): Promise<string | undefined> => {
    const order = await Promise.race([next.then(({ value }) => value), running.ended.then(() => undefined), stopped])
    if (order !== undefined) next = orders.next()
    return order
  }
  try {
    markWhole(made, running.info)
    made.lock.release()
    await printJson(running.info)
    const kept = await obey(folder, nextOrder)
    const over = kept === null ? undefined : await Promise.race([running.ended, stopped, expiry(kept)])
    await running[Symbol.asyncDispose]()
    if (kept === null || over === 'expired') await removeUnlessHeld(folder)
    return 0
  } finally {
    await running[Symbol.asyncDispose]()
  }
}

/**
 * Carries out orders until there are no more or the sandbox does not answer; gives the record of a sandbox that its pool
 * leaves to who claimed it, and null where it is to end.
 */
const obey = async (
  folder: SandboxFolder,
  nextOrder: () => Promise<string | undefined>,
): Promise<SandboxRecord | null> => {
  const key = readFileSync(folder.key, 'utf8').trim()
  let handed: ClaimedSandbox | null = null
  try {
    for (;;) {
      const line = await nextOrder()
      if (line === undefined) return null
      const order = JSON.parse(line) as PoolMessage
      if ('keep' in order && handed !== null) {
        const kept = handed.keep()
        await printJson({ kept: true } satisfies MemberMessage)
        return kept
      }
      if ('check' in order) await printJson({ isWell: await isWell(folder, key) } satisfies MemberMessage)
      if ('claim' in order) {
        try {
          if (!(await isWell(folder, key))) throw unwell(folder.name)
          handed = await handOut(folder, key, order.claim)
          await printJson(handed.info)
        } catch (error) {
          await printJson(failureLine(error))
          if (Failure.from(error).code === 'sandbox_not_found') return null
        }
      }
    }
  } finally {
    handed?.release()
  }
}

const unwell = (name: string): Failure =>
  new Failure('sandbox_not_found', `The sandbox "${name}" of the pool does not answer; take another one.`, { name })
