/** Fields of a dialog that say what a VM is made of. */
import { vmHost } from '@backlot/contract/vmhost'

const { cpu, display } = vmHost.updateVm.body.properties

interface MachineFieldsProps {
  readonly values: {
    readonly cpu: string
    readonly memory: string
    readonly diskSize: string
    readonly display: string
  }
  /** The field that has the focus when the dialog opens. */
  readonly focus?: 'cpu' | 'memory'
}

/** Processors, memory, disk and display. */
export const MachineFields = ({ values, focus }: MachineFieldsProps) => (
  <div class="row">
    <label>
      CPUs
      <input
        name="cpu"
        type="number"
        min={cpu.minimum}
        max={cpu.maximum}
        required
        defaultValue={values.cpu}
        autofocus={focus === 'cpu'}
      />
    </label>
    <label>
      Memory
      <input name="memory" required defaultValue={values.memory} autofocus={focus === 'memory'} />
    </label>
    <label>
      Disk
      <input name="diskSize" required defaultValue={values.diskSize} />
    </label>
    <label>
      Display
      <input name="display" required pattern={display.pattern} defaultValue={values.display} />
    </label>
  </div>
)

/** The location that the VM is kept in. */
export const LocationField = ({ names, usual }: { readonly names: readonly string[]; readonly usual: string }) => (
  <label>
    Location
    <select name="storage" defaultValue={usual}>
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  </label>
)
