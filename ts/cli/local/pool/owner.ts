/** The process that owns a pool: it keeps it full, hands sandboxes out on a port of 127.0.0.1, and ends it. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { failures } from '@backlot/contract/failure'
import { failureOf } from '@backlot/contract/system-failure'
import { type Claim, forgetPool, type PoolInfo, poolsFolder, writePoolRecord } from '@backlot/local'
import type { PoolKind } from './member.ts'
import { Pool } from './pool.ts'

/** What a pool is asked for, by the path of the request; the bodies are JSON. */
export interface PoolCalls {
  '/info': object
  '/claim': Claim
  '/keep': { readonly name: string }
  '/size': { readonly size: number | null }
  '/end': object
}

type Calls = {
  [Path in keyof PoolCalls]: (body: PoolCalls[Path], signal: AbortSignal) => Promise<object> | object
}

/** Owns a pool, whose lock is held, until `ending` settles or somebody ends it; `announce` is called when it can be used. */
export const ownPool = async (
  { name, kind, kindName, size }: { name: string; kind: PoolKind; kindName: string; size: number | null },
  ending: Promise<unknown>,
  announce: (info: PoolInfo) => Promise<void>,
): Promise<void> => {
  const folder = poolsFolder()
  const asked = { size }
  await using pool = new Pool(name, kind, asked)
  const ended = Promise.withResolvers<void>()
  const key = randomBytes(32).toString('base64url')
  const calls: Calls = {
    '/info': () => pool.info,
    '/claim': (claim, signal) => pool.claim(claim, signal),
    '/keep': async ({ name: kept }) => {
      await pool.keep(kept)
      return { name: kept }
    },
    '/size': ({ size: wanted }) => {
      asked.size = wanted
      pool.fill()
      return pool.info
    },
    '/end': () => {
      ended.resolve()
      return { name }
    },
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch: (request) => answerTo(request, calls, key),
  })
  try {
    writePoolRecord(folder, { name, kind: kindName, pid: process.pid, port: Number(server.port), key })
    pool.fill()
    await announce(pool.info)
    await Promise.race([ending, ended.promise])
  } finally {
    forgetPool(folder, name)
    // Who has just been answered is to hear it.
    void server.stop()
  }
}

/** Answers a request that shows the key with what the call of its path gives, or with its failure. */
const answerTo = async (request: Request, calls: Calls, key: string): Promise<Response> => {
  if (!isKey(request.headers.get('Authorization'), key) || request.headers.has('Origin')) {
    return new Response(null, { status: 401 })
  }
  const path = new URL(request.url).pathname
  if (!Object.hasOwn(calls, path)) return new Response(null, { status: 404 })
  try {
    const call = calls[path as keyof PoolCalls] as (body: unknown, signal: AbortSignal) => Promise<object> | object
    return Response.json(await call(await request.json(), request.signal))
  } catch (error) {
    const { code, message, data } = failureOf(error)
    const status = (failures[code] as { status?: number }).status ?? 500
    return Response.json({ error: { code, message, data } }, { status })
  }
}

const isKey = (given: string | null, key: string): boolean => {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(`Bearer ${key}`)]
  return one.length === other.length && timingSafeEqual(one, other)
}
