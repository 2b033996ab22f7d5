/** Acts inside guests. */
import { Failure } from '@backlot/contract/failure'
import type { Handlers } from '../host.ts'
import { findVm } from '../lifecycle/find.ts'

/** Seconds for a command whose caller names none. */
const usualSeconds = 60

export const execInVm: Handlers['execInVm'] = async (
  { name, command, timeoutSeconds = usualSeconds, storage },
  host,
) => {
  const vm = await findVm(host, name, storage)
  const machine = host.machines.get(vm.path)
  if (machine === undefined) {
    throw new Failure('vm_not_running', `"${name}" does not run; start it first.`, { name })
  }
  return machine.execute(command, timeoutSeconds * 1000)
}
