/** `backlot local wait`: the process that looks after one sandbox of a pool, and later of who claimed it. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import {
  type Claim,
  createSandbox,
  type HandedOut,
  handOut,
  isWell,
  markWhole,
  type NewSandbox,
  type RunningSandbox,
  sandboxesFolder,
  startSandbox,
} from '@backlot/local'
import { executableForSandboxes } from '../../compose/local.ts'
import { printJson } from '../../terminal/output.ts'
import { linesOf } from '../start.ts'
import { expiry, failureLine, removeUnlessHeld, signalled } from '../supervise.ts'

/** What the owner of the pool says, a line of JSON each. */
export type Order = { readonly claim: Claim } | { readonly keep: true } | { readonly check: true }

/** What is answered, a line of JSON each: its info at first and when it was claimed, how it is, or a failure. */
type Answer = object

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
  const stopped = new Promise<'stopped'>((settle) => stop.signal.addEventListener('abort', () => settle('stopped')))
  let handed: HandedOut | null = null
  try {
    markWhole(made, running.info)
    made.lock.release()
    const key = readFileSync(folder.key, 'utf8').trim()
    await printJson(running.info)
    for (;;) {
      const order = await Promise.race([next.then(({ value }) => value), running.ended.then(() => 'ended'), stopped])
      if (order === undefined || order === 'ended' || order === 'stopped') break
      next = orders.next()
      const said = JSON.parse(order) as Order
      if ('keep' in said && handed !== null) {
        const kept = handed.keep()
        await printJson({ kept: true } satisfies Answer)
        handed.release()
        handed = null
        const over = await Promise.race([running.ended, stopped, expiry(kept)])
        await running[Symbol.asyncDispose]()
        if (over === 'expired') await removeUnlessHeld(folder)
        return 0
      }
      if ('check' in said) await printJson({ isWell: await isWell(folder, key) } satisfies Answer)
      if ('claim' in said) {
        try {
          if (!(await isWell(folder, key))) throw unwell(folder.name)
          handed = await handOut(folder, key, said.claim)
          await printJson(handed.info)
        } catch (error) {
          await printJson(failureLine(error))
          if (Failure.from(error).code === 'sandbox_not_found') break
        }
      }
    }
    handed?.release()
    await running[Symbol.asyncDispose]()
    await removeUnlessHeld(folder)
    return 0
  } finally {
    handed?.release()
    await running[Symbol.asyncDispose]()
  }
}

const unwell = (name: string): Failure =>
  new Failure('sandbox_not_found', `The sandbox "${name}" of the pool does not answer; take another one.`, { name })
