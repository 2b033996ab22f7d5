/** Pools of the runtime `local`: their owner hands sandboxes out on a port of this machine, which costs no process. */
import { readFile } from 'node:fs/promises'
import { errorFor } from '../answer.ts'
import type { Fields } from '../basics.ts'
import { NotFoundError } from '../errors.ts'
import { folders } from '../state/folders.ts'

/** How to reach the owner of a pool. */
interface PoolOwner {
  readonly port: number
  readonly key: string
}

/** Takes a sandbox that is ready, or waits for one; gives how to reach it. */
export const claimLocal = async (pool: string, name: string, signal: AbortSignal): Promise<Fields> => {
  const owner = await ownerOf(pool)
  const info = await call(owner, pool, 'claim', { name, labels: {}, ttlMs: null }, signal)
  await call(owner, pool, 'keep', { name }, signal)
  return info
}

const ownerOf = async (pool: string): Promise<PoolOwner> => {
  try {
    return JSON.parse(await readFile(`${folders().state}/local-pools/${pool}.json`, 'utf8')) as PoolOwner
  } catch {
    throw notFound(pool)
  }
}

const call = async ({ port, key }: PoolOwner, pool: string, verb: string, body: object, signal: AbortSignal) => {
  let answer: Response
  try {
    answer = await fetch(`http://127.0.0.1:${port}/${verb}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
  } catch {
    signal.throwIfAborted()
    throw notFound(pool)
  }
  // Its port may be another program's since its owner was killed.
  const value = (await answer.json().catch(() => undefined)) as (Fields & { error?: Failed }) | undefined
  if (value?.error !== undefined) throw errorFor(value.error.code, value.error.message, value.error.data)
  if (value === undefined || !answer.ok) throw notFound(pool)
  return value
}

interface Failed {
  readonly code: string
  readonly message: string
  readonly data: Fields
}

const notFound = (name: string): NotFoundError =>
  new NotFoundError('pool_not_found', `There is no pool "${name}". \`WarmPool.list()\` names those there are.`, {
    data: { name },
  })
