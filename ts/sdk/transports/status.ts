/** Whether a computer server answers. */
import type { Fields } from '../basics.ts'
import { BacklotError, UnavailableError } from '../errors.ts'
import { readFrom } from './loss.ts'
import { retrying } from './retry.ts'
import type { Routes } from './routes.ts'

/** What a server says about itself, to everybody. Throws `unreachable`, `connection_lost` and `server_incompatible`. */
export const checkStatus = (to: Routes, where: string, signal: AbortSignal): Promise<Fields> =>
  retrying(true, signal, async () => {
    const response = await to.fetch('/status', { signal })
    const status = parsed(await readFrom(where, signal, response.text()))
    if (status?.status === 'ok') return status
    throw new UnavailableError(
      'server_incompatible',
      `What answers at "${where}" is no computer server; name the address of one.`,
      { data: { url: where } },
    )
  })

/**
 * Whether a computer server answers and lets this caller in, asked at once: `/status` tells everybody, the list of its commands
 * only who has the key. A server that has no such list is asked for its status, and the first command tells the rest. Throws
 * what `checkStatus` does, and `unauthorized`.
 */
export const checkAccess = async (to: Routes, where: string, signal: AbortSignal): Promise<void> => {
  const list = await retrying(true, signal, async () => {
    const response = await to.fetch('/commands', { signal })
    return readFrom(where, signal, response.text())
  }).catch((error: unknown) => {
    if (BacklotError.is(error) && error.code === 'server_incompatible') return ''
    throw error
  })
  if (typeof parsed(list)?.commands !== 'object') await checkStatus(to, where, signal)
}

const parsed = (text: string): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
