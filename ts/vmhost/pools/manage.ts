/** Says how many forks of a VM are kept ready. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../host/host.ts'
import { exclusively, findVm, refuseElsewhere } from '../lifecycle/find.ts'
import { isSaved } from '../snapshots/saved-state.ts'
import { sizeOfPool, writePoolSize } from './pool-file.ts'

export const poolVm: Handlers['poolVm'] = async ({ name, size, storage }, host) => {
  const vm = await findVm(host, name, storage)
  if (size !== undefined) {
    const keep = async () => {
      if (size > 0 && (host.machines.status(vm) !== 'suspended' || !isSaved(vm.path))) {
        const next = 'Suspend it first: forks that are ready go on from where it is then.'
        throw new Failure('vm_not_suspended', `"${name}" is not suspended. ${next}`, { name })
      }
      await writePoolSize(vm.path, size)
      host.pools.keep(vm, size)
    }
    await host.lockHome()
    refuseElsewhere(host, vm)
    await exclusively(host, vm, keep)
  }
  return { name, size: sizeOfPool(vm.path), ...host.pools.state(vm) }
}
