/** A VM host as a runtime calls it: its operations, with errors of this package. */
import { type Client, httpClient } from '@backlot/contract/client'
import { Failure } from '@backlot/contract/failure'
import { vmHostPrefixes } from '@backlot/contract/limits'
import { vmHost } from '@backlot/contract/vmhost'
import type { Operation } from '@backlot/contract/vmhost/operation'
import { errorFor } from '../../answer.ts'
import { pause } from '../../deadline.ts'
import { NotFoundError } from '../../errors.ts'
import type { Fetch } from '../../transports/http-routes.ts'

/** Where a VM host is. */
export interface HostAddress {
  /** `http://HOST:PORT` without a slash at its end. */
  readonly url: string
  /** How people name it. */
  readonly shown: string
  readonly token?: string | undefined
  readonly fetch: Fetch
}

/** Milliseconds between two looks at work of the host. */
const pollIntervalMs = 100

/** What the host's codes are called here; the others are the same, or have no name here. */
const codes: Readonly<Record<string, string>> = {
  vm_not_found: 'sandbox_not_found',
  vm_exists: 'sandbox_exists',
  vm_not_running: 'sandbox_not_running',
  vm_not_suspended: 'sandbox_not_running',
  vm_suspended: 'sandbox_not_running',
  vm_busy: 'sandbox_busy',
  vm_running: 'sandbox_busy',
  host_unreachable: 'runtime_unavailable',
  snapshot_exists: 'invalid_argument',
  disk_unsupported: 'unsupported',
  memory_not_saved: 'unsupported',
  snapshot_without_memory: 'unsupported',
  memory_unreadable: 'unsupported',
  macos_unavailable: 'unsupported',
}

/** A VM host. */
export class VmHost {
  constructor(readonly address: HostAddress) {}

  /** Asks it for something; throws errors of this package, and the reason of the signal. */
  async ask<T>(signal: AbortSignal | undefined, question: (client: Client<typeof vmHost>) => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    const { url, shown, token, fetch } = this.address
    const reach = {
      ...{ baseUrl: `${url}${vmHostPrefixes[0]}`, shown, token },
      fetch: (to: string, init: RequestInit) => fetch(to, signal === undefined ? init : { ...init, signal }),
    }
    try {
      return await question(httpClient(vmHost, reach))
    } catch (error) {
      signal?.throwIfAborted()
      throw asError(error)
    }
  }

  /** Waits until work of the host is done, and tells how far it is; throws why it failed. */
  async done(id: string, signal: AbortSignal, tell: (operation: Operation) => void = () => {}): Promise<void> {
    for (;;) {
      const operation = await this.ask(signal, (client) => client.getOperation({ id }))
      tell(operation)
      if (operation.state === 'done') return
      if (operation.state !== 'running') {
        const { code, message } = operation.cause ?? { code: 'internal', message: `The work ${id} was cancelled.` }
        throw errorFor(codes[code] ?? code, message, { serverCode: code })
      }
      await pause(pollIntervalMs, signal)
    }
  }
}

const asError = (error: unknown): unknown => {
  if (!(error instanceof Failure)) return error
  const { code, message, data } = error
  if (code === 'image_not_found') return new NotFoundError('image_not_found', message, { data })
  return errorFor(codes[code] ?? code, message, { ...data, serverCode: code })
}
