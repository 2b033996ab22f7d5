/** How long the start of a sandbox is waited for, whether or not its runtime heeds limit and signal. */
import { orAborted, timeoutOf, timerFor } from '../../deadline.ts'
import type { Progress, SandboxOptions } from '../options.ts'

/** Milliseconds that the start of a sandbox may take. */
export const startMs = 120_000

/** The limit of a start: it does not run while the runtime tells that it fetches or builds, and begins anew after that. */
export const startLimit = (options: SandboxOptions, errorOf: (timeoutMs: number) => Error) => {
  const timeoutMs = timeoutOf(options, startMs)
  const { signal } = options
  const ending = new AbortController()
  const cancel = () => ending.abort(signal?.reason)
  const arm = () => timerFor(timeoutMs, () => ending.abort(errorOf(timeoutMs)))
  let timer = arm()
  let isOver = false
  let wasAside = false
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted) cancel()
  return {
    onProgress(progress: Progress): void {
      const isAside = progress.phase !== 'boot'
      if (!isOver && isAside !== wasAside) {
        clearTimeout(timer)
        timer = isAside ? undefined : arm()
        wasAside = isAside
      }
      options.onProgress?.(progress)
    },
    /** What the work gives, or the reason to wait no longer. */
    async within<T>(work: Promise<T>): Promise<T> {
      try {
        return await orAborted(ending.signal, work)
      } finally {
        isOver = true
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
      }
    },
  }
}
