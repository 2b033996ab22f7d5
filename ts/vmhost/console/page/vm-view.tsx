/** One VM: what it does, its screen, its facts, and what was done with it. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Operation } from '@backlot/contract/vmhost/operation'
import type { Vm } from '@backlot/contract/vmhost/vm'
import type { ScreenProps } from '@backlot/serve/page/screen'
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { bytes, moment } from './format.ts'
import type { Storage } from './host-state.ts'
import { OperationList } from './operation-list.tsx'
import { screenUrl, service } from './reach.ts'
import { ForkDialog } from './vm/fork-dialog.tsx'
import { RunDialog } from './vm/run-dialog.tsx'
import { SetDialog } from './vm/set-dialog.tsx'
import { Snapshots } from './vm/snapshots.tsx'
import { useWorking } from './working.ts'

/** A start is cancelled; of a damaged one something may run. */
const canStop: readonly Vm['status'][] = ['starting', 'running', 'damaged']

/** The VM and its operations, the latest first. */
export const VmView = (props: {
  readonly vm: Vm
  readonly operations: readonly Operation[]
  readonly storage: Storage
}) => {
  const { vm, operations, storage } = props
  const working = useWorking()
  const [asked, ask] = useState<'run' | 'set' | 'clone' | 'fork' | 'delete'>()
  const at = { name: vm.name, storage: vm.locationName }
  const isStopped = vm.status === 'stopped'
  const isSuspended = vm.status === 'suspended'
  const isDamaged = vm.status === 'damaged'
  const isBusy = working.what !== undefined || operations.some(({ state }) => state === 'running')
  const close = () => ask(undefined)
  return (
    <article>
      <div class="title">
        <h2>{vm.name}</h2>
        <span class={`badge ${vm.status}`} role="status">
          {working.what ?? vm.status}
        </span>
        <div class="buttons">
          <button
            type="button"
            class="primary"
            disabled={!(isStopped || isSuspended) || isBusy}
            onClick={() => working.run(isSuspended ? 'resuming…' : 'starting…', () => service.runVm(at))}
          >
            {isSuspended ? 'Resume' : 'Start'}
          </button>
          <button
            type="button"
            disabled={vm.status !== 'running' || isBusy}
            onClick={() => working.run('suspending…', () => service.suspendVm(at))}
          >
            Suspend
          </button>
          <button type="button" disabled={!isStopped || isBusy} onClick={() => ask('run')}>
            Start with…
          </button>
          <button
            type="button"
            disabled={!canStop.includes(vm.status) || working.what !== undefined}
            onClick={() => working.run('stopping…', () => service.stopVm(at))}
          >
            Stop
          </button>
          <button type="button" disabled={(!isStopped && vm.status !== 'running') || isBusy} onClick={() => ask('set')}>
            Change…
          </button>
          <button type="button" disabled={!isStopped || isBusy} onClick={() => ask('clone')}>
            Clone…
          </button>
          <button
            type="button"
            disabled={!(isSuspended || vm.status === 'running') || isBusy}
            onClick={() => ask('fork')}
          >
            Fork…
          </button>
          <button
            type="button"
            disabled={!(isStopped || isSuspended || isDamaged) || isBusy}
            onClick={() => ask('delete')}
          >
            Delete…
          </button>
        </div>
      </div>
      {(working.fault ?? vm.lastError) !== undefined && (working.fault ?? vm.lastError) !== null && (
        <p class="fault" role="alert">
          {working.fault ?? vm.lastError}
        </p>
      )}
      <ScreenPart vm={vm} />
      {!isDamaged && <Facts vm={vm} />}
      {!isDamaged && <Snapshots vm={vm} operations={operations} isBusy={isBusy} />}
      <OperationList operations={operations} />
      {asked === 'run' && <RunDialog vm={vm} close={close} />}
      {asked === 'set' && <SetDialog vm={vm} storage={storage} close={close} />}
      {asked === 'clone' && <CloneDialog vm={vm} close={close} />}
      {asked === 'fork' && <ForkDialog vm={vm} close={close} />}
      {asked === 'delete' && <DeleteDialog vm={vm} close={close} />}
    </article>
  )
}

const passwordOf = (vncUrl: string): string => /^vnc:\/\/:([^@]*)@/.exec(vncUrl)?.[1] ?? ''

/** The screen while there is one; what shows it is loaded then. */
const ScreenPart = ({ vm }: { readonly vm: Vm }) => {
  const [part, setPart] = useState<{ readonly Screen: ComponentType<ScreenProps> }>()
  const isOn = vm.status === 'running' && vm.vncUrl !== null
  useEffect(() => {
    if (isOn) void import('@backlot/serve/page/screen').then(({ default: Screen }) => setPart({ Screen }))
  }, [isOn])
  if (!isOn || vm.vncUrl === null) {
    const words = vm.status === 'running' ? 'It runs without a display.' : 'The screen appears here while the VM runs.'
    return <p class="screen off">{words}</p>
  }
  if (part === undefined) return <p class="screen off">Joining the screen…</p>
  return (
    <part.Screen
      url={screenUrl(vm.name, vm.locationName)}
      password={passwordOf(vm.vncUrl)}
      refused="The VM refused the password of its screen; looking again…"
    />
  )
}

/** What the record says, row by row; what is unknown is left out. */
const facts = (vm: Vm): readonly (readonly [string, string | null])[] => [
  ['System', vm.guestOs],
  ['Processors', `${vm.cpuCount}`],
  ['Memory', bytes(vm.memorySize)],
  ['Disk', `${bytes(vm.diskSize.total)}, ${bytes(vm.diskSize.allocated)} written`],
  ['Display', vm.display],
  ['Address', vm.ipAddress],
  ['Ports', vm.forwards.map(({ guestPort, address, port }) => `${guestPort} at ${address}:${port}`).join(', ') || null],
  ['Shared folders', vm.sharedDirectories?.map(({ hostPath, tag }) => `${hostPath} as ${tag}`).join(', ') || null],
  ['Network', `${vm.networkMode}, ${vm.macAddress}`],
  ['Runs on', vm.accelerator],
  ['Made from', vm.image ?? vm.iso],
  ['Location', vm.locationName],
  ['Made', moment(vm.createdAt)],
  ['Last end', vm.lastEnding && `${vm.lastEnding.cause}, ${moment(vm.lastEnding.at)}`],
]

const Facts = ({ vm }: { readonly vm: Vm }) => (
  <dl>
    {facts(vm).map(
      ([name, text]) =>
        text !== null && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text}</dd>
          </div>
        ),
    )}
  </dl>
)

interface AskProps {
  readonly vm: Vm
  readonly close: () => void
}

const CloneDialog = ({ vm, close }: AskProps) => {
  const working = useWorking()
  const act = async (form: FormData) => {
    const newName = String(form.get('newName')).trim()
    const input = { name: vm.name, newName, sourceLocation: vm.locationName, destLocation: vm.locationName }
    if (!(await working.run('Cloning…', () => service.cloneVm(input)))) return
    close()
    location.hash = vmAnchor({ name: newName, locationName: vm.locationName })
  }
  return (
    <Dialog title={`Clone ${vm.name}`} verb="Clone" working={working} act={act} close={close}>
      <label>
        Name of the copy
        <input name="newName" required autofocus defaultValue={`${vm.name}-copy`} autocomplete="off" />
      </label>
    </Dialog>
  )
}

const DeleteDialog = ({ vm, close }: AskProps) => {
  const working = useWorking()
  const act = async () => {
    const done = await working.run('Deleting…', () => service.deleteVm({ name: vm.name, storage: vm.locationName }))
    if (!done) return
    close()
    location.hash = '#/'
  }
  return (
    <Dialog title={`Delete ${vm.name}?`} verb="Delete" dangerous working={working} act={act} close={close}>
      <p>Its disk with {bytes(vm.diskSize.allocated)} goes with it. This cannot be undone.</p>
    </Dialog>
  )
}
