/** Deletes a VM. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../host.ts'
import { alone, findVm } from './find.ts'

export const deleteVm: Handlers['deleteVm'] = async ({ name, storage }, host) => {
  const vm = await findVm(host, name, storage)
  await alone(host, vm, async () => {
    host.machines.refuseRunning(vm, 'Stop it first to delete it.')
    await host.store.remove(await host.store.find(vm.name, vm.storage.path))
    host.events.emit({ type: 'vm', name, location: vm.storage.name, status: null })
  })
  // What nobody needs any more is found again at the next start.
  await host.bases.collect(vm.storage).catch((error) => {
    const { code, message } = Failure.from(error)
    host.log.write('error', code, { message })
  })
  host.log.write('info', 'deleted', { vm: name })
  return { message: `Virtual machine deleted: ${name}` }
}
