/** Tells what the host does. */
import { totalmem } from 'node:os'
import { hostInterface } from '@backlot/contract/limits'
import { version } from '@backlot/contract/version'
import type { Handlers } from '../host/host.ts'

export const getLogs: Handlers['getLogs'] = async ({ type = 'all', lines }, host) => ({
  ...(type !== 'error' && { info: await host.log.tail('info', lines) }),
  ...(type !== 'info' && { error: await host.log.tail('error', lines) }),
})

export const getHostStatus: Handlers['getHostStatus'] = async (_, { machines }) => {
  const running = machines.count
  const { name, features } = machines.hypervisor
  const most = Math.max(1, Math.floor(totalmem() / hostInterface.bytesPerVm))
  return {
    status: 'healthy',
    vm_count: running,
    max_vms: most,
    available_slots: Math.max(0, most - running),
    version: hostInterface.version,
    backlot: version,
    hypervisor: { name, features },
  }
}

export const listOperations: Handlers['listOperations'] = async (_, host) => host.operations.list()

export const getOperation: Handlers['getOperation'] = async ({ id }, host) => host.operations.get(id)

export const cancelOperation: Handlers['cancelOperation'] = async ({ id }, host) => host.operations.cancel(id)
