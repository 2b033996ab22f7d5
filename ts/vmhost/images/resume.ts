/** Goes on with what a service before this one has begun to pull, to push and to import. */
import { Failure } from '@backlot/contract/failure'
import type { Host } from '../host/host.ts'
import { type ImportTransfer, resumeImport } from './importing/import-image.ts'
import { type PullTransfer, resumePull } from './pull-vm.ts'
import { type PushTransfer, resumePush } from './push-vm.ts'
import type { Transfer } from './transfers.ts'

const kinds: Readonly<Record<Transfer['kind'], (host: Host, transfer: Transfer) => unknown>> = {
  pull: (host, transfer) => resumePull(host, transfer as PullTransfer),
  push: (host, transfer) => resumePush(host, transfer as PushTransfer),
  import: (host, transfer) => resumeImport(host, transfer as ImportTransfer),
}

/** Begins all of them; where another service has charge of the home, that one does. */
export const resumeTransfers = async (host: Host): Promise<void> => {
  try {
    const left = await host.transfers.left()
    if (left.length === 0) return
    await host.lockHome()
    for (const transfer of left) kinds[transfer.kind](host, transfer)
  } catch (error) {
    const { code, message } = Failure.from(error)
    host.log.write('error', code, { message })
  }
}
