/** Copies of a VM that go on from where it is. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { Dialog } from '../dialog.tsx'
import { Field } from '../fields.tsx'
import { service } from '../reach.ts'

/** Asks how many, makes them, and shows the first. */
export const ForkDialog = ({ vm, close }: { readonly vm: Vm; readonly close: () => void }) => {
  const act = async (form: FormData) => {
    const count = Number(form.get('count'))
    const { names } = await service.forkVm({ name: vm.name, storage: vm.locationName, count })
    location.hash = vmAnchor({ name: names[0] ?? vm.name, locationName: vm.locationName })
  }
  return (
    <Dialog title={`Fork ${vm.name}`} verb="Fork" doing="Forking…" act={act} close={close}>
      <p>Copies that go on from where it is, each a machine of its own. It stands still meanwhile.</p>
      <Field label="How many" name="count" type="number" min="1" max="16" required autofocus defaultValue="1" />
    </Dialog>
  )
}
