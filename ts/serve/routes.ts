/** The routes of a server: read off its declarations, one guard before them, one answer to failures. */
import type { HttpOperation, HttpOperations } from '@backlot/contract/endpoint'
import { Failure } from '@backlot/contract/failure'
import { type AnyElysia, Elysia } from 'elysia'
import { type AccessGuard, authorize } from './access/guard.ts'
import { readInput } from './input.ts'

/** The answer to a failure: whole, or a status and what becomes JSON. */
export type Refusal = Response | { readonly status: number; readonly body: object }

/** An app whose requests `entry` admits, without routes; `refuse` answers failures, and `report` hears of defects. */
export const guardedApp = (
  entry: AccessGuard,
  refuse: (failure: Failure, request: Request) => Refusal,
  report: (defect: unknown) => void,
) =>
  // Compiling routes beforehand takes longer than all that a person or an agent asks in a day would save.
  new Elysia({ aot: false })
    .onRequest(({ request, set }) => {
      const cookie = authorize(request, entry)
      if (cookie !== undefined) set.headers['set-cookie'] = cookie
    })
    // The framework would answer 415 or 422 where clients know 400 only, and read media types by their name.
    .onParse(() => unread)
    .onError(async ({ error, code, request, set }) => {
      const failure = code === 'NOT_FOUND' ? unknownOperation(request) : Failure.from(error)
      const isGone = request.signal.aborted && error === request.signal.reason
      if (failure.code === 'internal' && !isGone) report(error)
      const refusal = refuse(failure, request)
      if (refusal instanceof Response) return refusal
      set.status = refusal.status
      return refusal.body
    })

/** Stands for a body that is read later. */
const unread = {}

/** Declared operations, and how they are answered. */
export interface Operations {
  readonly declared: HttpOperations
  readonly prefix: string
  /** Bytes of the longest body that is read. */
  readonly longestBodyBytes: number
  /**
   * Gives the result of the operation of that name: a `Response`, or what becomes JSON. The signal is aborted when the caller
   * goes away.
   */
  answer(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<unknown>
}

/** Adds every declared operation under the prefix. */
export const addOperations = (app: AnyElysia, operations: Operations): void => {
  const { prefix, longestBodyBytes, answer } = operations
  for (const [name, declared] of Object.entries(operations.declared)) {
    for (const { method, path } of endpointsOf(declared)) {
      app.route(method, prefix + routeOf(path), async ({ request, params, set }) => {
        const input = await readInput(declared, { request, params }, longestBodyBytes)
        const result = await answer(name, input, request.signal)
        set.status = declared.success.status
        return result
      })
    }
  }
}

/** A path with its parameters in braces, as the router wants it. */
export const routeOf = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1')

/** Every method and path, below the prefix, by which an operation is called. */
export const endpointsOf = ({ method, path, alias }: HttpOperation): { method: string; path: string }[] => [
  { method, path },
  ...(alias === undefined ? [] : [alias]),
]

/** The path that a request asks for. */
export const pathOf = (request: Request): string => URL.parse(request.url)?.pathname ?? request.url

const unknownOperation = (request: Request): Failure => {
  const operation = `${request.method} ${pathOf(request)}`
  return new Failure('unknown_operation', `There is no operation "${operation}"; /openapi.json lists them.`, {
    operation,
  })
}
