/** The snapshots of a VM, as the tree in which they came about. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Operation } from '@backlot/contract/vmhost/operation'
import { inTree, type Snapshot } from '@backlot/contract/vmhost/snapshot'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from '../dialog.tsx'
import { Field } from '../fields.tsx'
import { bytes, moment } from '../format.ts'
import { service } from '../reach.ts'
import { useWorking } from '../working.ts'

interface SnapshotsProps {
  readonly vm: Vm
  readonly operations: readonly Operation[]
  readonly isBusy: boolean
}

export const Snapshots = ({ vm, operations, isBusy }: SnapshotsProps) => {
  const [snapshots, set] = useState<readonly Snapshot[]>([])
  const [isAsked, ask] = useState(false)
  const working = useWorking()
  const at = { name: vm.name, storage: vm.locationName }
  const ended = operations.filter(({ state }) => state !== 'running').length
  // One that cannot be read is told by who asks for it.
  const read = () => service.listSnapshots(at).then(set, () => set([]))
  useEffect(() => void read(), [vm.name, vm.locationName, ended])
  const cannot = isBusy || working.what !== undefined
  const act = (what: string, work: () => Promise<unknown>) => working.run(what, () => work().then(read))
  const fork = async (snapshot: string) => {
    const { names } = await service.forkVm({ ...at, snapshot })
    location.hash = vmAnchor({ name: names[0] ?? vm.name, locationName: vm.locationName })
  }
  return (
    <section class="snapshots">
      <h3>Snapshots</h3>
      {working.fault !== undefined && <p class="fault">{working.fault}</p>}
      <ul>
        {inTree(snapshots).map(({ snapshot, depth }) => (
          <SnapshotItem
            key={snapshot.name}
            {...{ vm, snapshot, depth, isBusy: cannot, act }}
            fork={(name) => working.run('forking…', () => fork(name))}
          />
        ))}
      </ul>
      <button type="button" disabled={cannot} onClick={() => ask(true)}>
        Snapshot…
      </button>
      {isAsked && <SnapshotDialog vm={vm} close={() => ask(false)} />}
    </section>
  )
}

interface SnapshotItemProps {
  readonly vm: Vm
  readonly snapshot: Snapshot
  readonly depth: number
  readonly isBusy: boolean
  /** Does something that changes the snapshots or the VM. */
  readonly act: (what: string, work: () => Promise<unknown>) => void
  /** Forks the VM as it was at a snapshot, and shows the fork. */
  readonly fork: (snapshot: string) => void
}

const SnapshotItem = ({ vm, snapshot, depth, isBusy, act, fork }: SnapshotItemProps) => {
  const { name, createdAt, hasMemory, memoryBytes } = snapshot
  const at = { name: vm.name, storage: vm.locationName, snapshot: name }
  const isStanding = vm.status === 'stopped' || vm.status === 'suspended'
  return (
    <li style={`--depth: ${depth}`} data-depth={depth}>
      <strong>{name}</strong> <time dateTime={createdAt}>{moment(createdAt)}</time>
      <small>{hasMemory ? `with ${bytes(memoryBytes)} of memory` : 'the disk'}</small>
      <button
        type="button"
        disabled={!isStanding || isBusy}
        aria-label={`Restore ${name}`}
        onClick={() => act('restoring…', () => service.restoreSnapshot(at))}
      >
        Restore
      </button>
      <button type="button" disabled={!hasMemory || isBusy} aria-label={`Fork ${name}`} onClick={() => fork(name)}>
        Fork
      </button>
      <button
        type="button"
        disabled={isBusy}
        aria-label={`Remove ${name}`}
        onClick={() => act('removing…', () => service.deleteSnapshot(at))}
      >
        Remove
      </button>
    </li>
  )
}

const SnapshotDialog = ({ vm, close }: { readonly vm: Vm; readonly close: () => void }) => {
  const act = (form: FormData) => {
    const snapshot = String(form.get('snapshot')).trim()
    return service.takeSnapshot({ name: vm.name, storage: vm.locationName, snapshot })
  }
  return (
    <Dialog title={`Keep ${vm.name} as it is`} verb="Keep" doing="Keeping…" act={act} close={close}>
      <Field label="Name of the snapshot" name="snapshot" required autofocus autocomplete="off" />
    </Dialog>
  )
}
