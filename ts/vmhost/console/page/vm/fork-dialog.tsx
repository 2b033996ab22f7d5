/** Copies of a VM that go on from where it is. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { Dialog } from '../dialog.tsx'
import { service } from '../reach.ts'
import { useWorking } from '../working.ts'

/** Asks how many, makes them, and shows the first. */
export const ForkDialog = ({ vm, close }: { readonly vm: Vm; readonly close: () => void }) => {
  const working = useWorking()
  const act = async (form: FormData) => {
    let first = vm.name
    const fork = async () => {
      const count = Number(form.get('count'))
      const { names } = await service.forkVm({ name: vm.name, storage: vm.locationName, count })
      first = names[0] ?? first
    }
    if (!(await working.run('Forking…', fork))) return
    close()
    location.hash = vmAnchor({ name: first, locationName: vm.locationName })
  }
  return (
    <Dialog title={`Fork ${vm.name}`} verb="Fork" working={working} act={act} close={close}>
      <p>Copies that go on from where it is, each a machine of its own. It stands still meanwhile.</p>
      <label>
        How many
        <input name="count" type="number" min="1" max="16" required autofocus defaultValue="1" />
      </label>
    </Dialog>
  )
}
