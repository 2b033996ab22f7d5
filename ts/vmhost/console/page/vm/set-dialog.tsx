/** Asks what of a VM is to be another; what stays as it is is not sent. */
import { sizeOf } from '@backlot/contract/fields/size'
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { Dialog } from '../dialog.tsx'
import { LocationField, MachineFields } from '../fields.tsx'
import type { Storage } from '../host-state.ts'
import { service } from '../reach.ts'

type Change = Parameters<typeof service.updateVm>[0]

/** The dialog; a VM that moves is shown where it went. */
export const SetDialog = (props: { readonly vm: Vm; readonly storage: Storage; readonly close: () => void }) => {
  const { vm, storage, close } = props
  const present = {
    cpu: String(vm.cpuCount),
    memory: sizeOf(vm.memorySize),
    diskSize: sizeOf(vm.diskSize.total),
    display: vm.display,
    storage: vm.locationName,
  }
  const act = async (form: FormData) => {
    const wanted = Object.entries(present).flatMap(([field, before]) => {
      const text = String(form.get(field) ?? before).trim()
      return text === before ? [] : [[field, field === 'cpu' ? Number(text) : text] as const]
    })
    const change: Change = { name: vm.name, sourceLocation: vm.locationName, ...Object.fromEntries(wanted) }
    if (wanted.length > 0) await service.updateVm(change)
    if (change.storage !== undefined) location.hash = vmAnchor({ name: vm.name, locationName: change.storage })
  }
  const isRunning = vm.status === 'running'
  const locations = [...new Set([vm.locationName, ...storage.names])]
  return (
    <Dialog title={`Change ${vm.name}`} verb="Change" doing="Changing…" act={act} close={close}>
      {isRunning && (
        <p class="hint">While it runs its disk can grow and its memory shrink; stop it first to change the rest.</p>
      )}
      <MachineFields values={present} focus={isRunning ? 'memory' : 'cpu'} />
      <p class="hint">A disk only grows.</p>
      <LocationField names={locations} usual={present.storage} />
    </Dialog>
  )
}
