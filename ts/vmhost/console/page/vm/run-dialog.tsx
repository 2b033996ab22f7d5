/** Asks how a VM is to be started: with or without its display, and with which folders of this machine. */
import type { Vm } from '@backlot/contract/vmhost/vm'
import { useState } from 'preact/hooks'
import { Dialog } from '../dialog.tsx'
import { service } from '../reach.ts'

/** The dialog; it closes when the start is under way. */
export const RunDialog = ({ vm, close }: { readonly vm: Vm; readonly close: () => void }) => {
  /** Numbers of the rows that are there; a row keeps its own when another goes. */
  const [rows, setRows] = useState<readonly number[]>([0])
  const act = async (form: FormData) => {
    const sharedDirectories = rows.flatMap((row) => {
      const text = (field: string) => String(form.get(`${field}-${row}`) ?? '').trim()
      if (text('path') === '') return []
      const tag = text('tag')
      return [{ hostPath: text('path'), readOnly: text('readOnly') !== '', ...(tag !== '' && { tag }) }]
    })
    const noDisplay = form.get('display') === null
    await service.runVm({ name: vm.name, storage: vm.locationName, noDisplay, sharedDirectories })
  }
  const add = () => setRows((before) => [...before, Math.max(-1, ...before) + 1])
  return (
    <Dialog title={`Start ${vm.name}`} verb="Start" doing="Starting…" act={act} close={close}>
      <label class="check">
        <input type="checkbox" name="display" defaultChecked />
        With its display
      </label>
      <fieldset>
        <legend>Folders of the host that the guest sees</legend>
        {rows.map((row, index) => (
          <SharedFolder
            key={row}
            row={row}
            index={index}
            remove={() => setRows((before) => before.filter((each) => each !== row))}
          />
        ))}
        <button type="button" onClick={add} disabled={rows.length >= 16}>
          Add a folder
        </button>
      </fieldset>
      <p class="hint">A guest with Linux mounts a folder by its tag, linux-minimal at /mnt/shared/TAG by itself.</p>
    </Dialog>
  )
}

/** The fields of one folder, named after its row; `index` is its place among those that are there. */
const SharedFolder = (props: { readonly row: number; readonly index: number; readonly remove: () => void }) => {
  const { row, index, remove } = props
  return (
    <div class="share">
      <input
        name={`path-${row}`}
        placeholder="/absolute/path"
        aria-label={`Path of folder ${index + 1}`}
        spellcheck={false}
        autocomplete="off"
        autofocus={index === 0}
      />
      <input
        name={`tag-${row}`}
        placeholder="tag"
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,30}"
        aria-label={`Tag of folder ${index + 1}`}
        spellcheck={false}
        autocomplete="off"
      />
      <label class="check">
        <input type="checkbox" name={`readOnly-${row}`} />
        Read only
      </label>
      <button type="button" aria-label={`Remove folder ${index + 1}`} onClick={remove}>
        ×
      </button>
    </div>
  )
}
