/** Fields of forms. */
import { vmHost } from '@backlot/contract/vmhost'
import type { InputHTMLAttributes } from 'preact'

/** An input under its label. */
export const Field = ({ label, ...input }: InputHTMLAttributes & { readonly label: string }) => (
  <label>
    {label}
    <input {...input} />
  </label>
)

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

/** Processors, memory, disk and display of a VM. */
export const MachineFields = ({ values, focus }: MachineFieldsProps) => (
  <div class="row">
    <Field
      label="CPUs"
      name="cpu"
      type="number"
      min={cpu.minimum}
      max={cpu.maximum}
      required
      defaultValue={values.cpu}
      autofocus={focus === 'cpu'}
    />
    <Field label="Memory" name="memory" required defaultValue={values.memory} autofocus={focus === 'memory'} />
    <Field label="Disk" name="diskSize" required defaultValue={values.diskSize} />
    <Field label="Display" name="display" required pattern={display.pattern} defaultValue={values.display} />
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
