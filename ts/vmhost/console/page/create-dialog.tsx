/** Asks what a new VM is to be like; every field begins with something that works. */
import { vmHost } from '@backlot/contract/vmhost'
import { vmAnchor } from '@backlot/contract/vmhost/console'
import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { Field, LocationField, MachineFields } from './fields.tsx'
import type { Storage } from './host-state.ts'
import { service } from './reach.ts'

const usual = vmHost.createVm.command.defaults
const { name: nameSchema } = vmHost.createVm.body.properties

/** A pattern for a field: browsers read it with the flag `v`, where a hyphen in brackets is escaped. */
const fieldPattern = (pattern: string | undefined): string | undefined => pattern?.replaceAll('-]', '\\-]')

type Origin = {
  readonly words: string
  readonly field?: 'image' | 'iso'
  readonly label?: string
  readonly usual?: string
}

/** What a disk may begin with. */
const origins: Readonly<Record<string, Origin>> = {
  image: { words: 'a local image', field: 'image', label: 'Image', usual: usual.image },
  file: { words: 'a disk file or an address', field: 'image', label: 'Path or address (https://…)' },
  iso: { words: 'nothing, to install from a disc image', field: 'iso', label: 'Path of the ISO file' },
  blank: { words: 'nothing' },
}

type Input = Parameters<typeof service.createVm>[0]

/** What the form asks for; `field` is the one that takes what its disk begins with. */
const inputOf = (form: FormData, field: Origin['field']): Input => {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  return {
    name: text('name'),
    os: 'linux',
    cpu: Number(text('cpu')),
    memory: text('memory'),
    diskSize: text('diskSize'),
    display: text('display'),
    storage: text('storage'),
    ...(field !== undefined && { [field]: text('origin') }),
    ...(text('userData') !== '' && { userData: text('userData') }),
  }
}

/** The dialog; the VM that was made is shown afterwards. */
export const CreateDialog = (props: { readonly storage: Storage; readonly close: () => void }) => {
  const { storage, close } = props
  const [origin, setOrigin] = useState('image')
  const act = async (form: FormData) => {
    const input = inputOf(form, origins[origin]?.field)
    await service.createVm(input)
    location.hash = vmAnchor({ name: input.name, locationName: String(form.get('storage')) })
  }
  const { label, field, usual: text } = origins[origin] ?? {}
  return (
    <Dialog title="New VM" verb="Create" doing="Making it…" act={act} close={close}>
      <Field
        label="Name"
        name="name"
        required
        maxLength={nameSchema.maxLength}
        pattern={fieldPattern(nameSchema.pattern)}
        autofocus
        autocomplete="off"
      />
      <label>
        Its disk begins with
        <select value={origin} onChange={(event) => setOrigin(event.currentTarget.value)}>
          {Object.entries(origins).map(([key, { words }]) => (
            <option key={key} value={key}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {field !== undefined && (
        <label key={origin}>
          {label}
          <input name="origin" required defaultValue={text ?? ''} spellcheck={false} autocomplete="off" />
        </label>
      )}
      <MachineFields values={{ ...usual, cpu: String(usual.cpu) }} />
      <LocationField names={storage.names} usual={storage.usual} />
      <details>
        <summary>User data for cloud-init</summary>
        <textarea name="userData" rows={6} spellcheck={false} aria-label="User data for cloud-init" />
      </details>
    </Dialog>
  )
}
