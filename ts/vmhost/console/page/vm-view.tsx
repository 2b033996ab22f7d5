/** One VM: what it does, its screen, its facts, and what was done with it. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Operation } from '@backlot/contract/vmhost/operation'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { useState } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { type Fact, Facts, Fault } from './facts.tsx'
import { Field } from './fields.tsx'
import { bytes, moment } from './format.ts'
import type { Storage } from './host-state.ts'
import { LiveScreen } from './live-screen.tsx'
import { OperationList } from './operation-list.tsx'
import { screenUrl, service } from './reach.ts'
import { ForkDialog } from './vm/fork-dialog.tsx'
import { Pool } from './vm/pool.tsx'
import { RunDialog } from './vm/run-dialog.tsx'
import { SetDialog } from './vm/set-dialog.tsx'
import { Snapshots } from './vm/snapshots.tsx'
import { useWorking, type Working } from './working.ts'

/** A start is cancelled; of a damaged one something may run. */
const canStop: readonly Vm['status'][] = ['starting', 'running', 'damaged']

/** What a dialog asks about. */
type Question = 'run' | 'set' | 'clone' | 'fork' | 'delete'

/** The VM and its operations, the latest first. */
export const VmView = (props: {
  readonly vm: Vm
  readonly operations: readonly Operation[]
  readonly storage: Storage
}) => {
  const { vm, operations, storage } = props
  const working = useWorking()
  const [asked, ask] = useState<Question>()
  const fault = working.fault ?? vm.lastError ?? null
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
        <Buttons vm={vm} working={working} isBusy={isBusy} ask={ask} />
      </div>
      {fault !== null && <Fault>{fault}</Fault>}
      <ScreenPart vm={vm} />
      {!isDamaged && <Facts facts={facts(vm)} />}
      {!isDamaged && <Snapshots vm={vm} operations={operations} isBusy={isBusy} />}
      {!isDamaged && <Pool vm={vm} />}
      <OperationList operations={operations} />
      {asked === 'run' && <RunDialog vm={vm} close={close} />}
      {asked === 'set' && <SetDialog vm={vm} storage={storage} close={close} />}
      {asked === 'clone' && <CloneDialog vm={vm} close={close} />}
      {asked === 'fork' && <ForkDialog vm={vm} close={close} />}
      {asked === 'delete' && <DeleteDialog vm={vm} close={close} />}
    </article>
  )
}

interface ButtonsProps {
  readonly vm: Vm
  readonly working: Working
  readonly isBusy: boolean
  readonly ask: (question: Question) => void
}

/** What one does with the VM; each button can be pressed where its state allows that. */
const Buttons = ({ vm, working, isBusy, ask }: ButtonsProps) => {
  const at = { name: vm.name, storage: vm.locationName }
  const isRunning = vm.status === 'running'
  const isStopped = vm.status === 'stopped'
  const isSuspended = vm.status === 'suspended'
  const start = () => working.run(isSuspended ? 'resuming…' : 'starting…', () => service.runVm(at))
  const suspend = () => working.run('suspending…', () => service.suspendVm(at))
  const stop = () => working.run('stopping…', () => service.stopVm(at))
  const buttons: readonly (readonly [text: string, isPossible: boolean, press: () => unknown])[] = [
    ['Suspend', isRunning && !isBusy, suspend],
    ['Start with…', isStopped && !isBusy, () => ask('run')],
    ['Stop', canStop.includes(vm.status) && working.what === undefined, stop],
    ['Change…', (isStopped || isRunning) && !isBusy, () => ask('set')],
    ['Clone…', isStopped && !isBusy, () => ask('clone')],
    ['Fork…', (isSuspended || isRunning) && !isBusy, () => ask('fork')],
    ['Delete…', (isStopped || isSuspended || vm.status === 'damaged') && !isBusy, () => ask('delete')],
  ]
  return (
    <div class="buttons">
      <button type="button" class="primary" disabled={!(isStopped || isSuspended) || isBusy} onClick={start}>
        {isSuspended ? 'Resume' : 'Start'}
      </button>
      {buttons.map(([text, isPossible, press]) => (
        <button key={text} type="button" disabled={!isPossible} onClick={press}>
          {text}
        </button>
      ))}
    </div>
  )
}

const passwordOf = (vncUrl: string): string => /^vnc:\/\/:([^@]*)@/.exec(vncUrl)?.[1] ?? ''

/** The screen while there is one. */
const ScreenPart = ({ vm }: { readonly vm: Vm }) => {
  if (vm.status !== 'running') return <LiveScreen screen="The screen appears here while the VM runs." />
  if (vm.vncUrl === null) return <LiveScreen screen="It runs without a display." />
  const refused = 'The VM refused the password of its screen; looking again…'
  const url = screenUrl(vm.name, vm.locationName)
  return <LiveScreen screen={{ url, password: passwordOf(vm.vncUrl), refused }} />
}

/** What the record says, row by row; what is unknown is left out. */
const facts = (vm: Vm): readonly Fact[] => [
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

interface AskProps {
  readonly vm: Vm
  readonly close: () => void
}

const CloneDialog = ({ vm, close }: AskProps) => {
  const act = async (form: FormData) => {
    const newName = String(form.get('newName')).trim()
    await service.cloneVm({ name: vm.name, newName, sourceLocation: vm.locationName, destLocation: vm.locationName })
    location.hash = vmAnchor({ name: newName, locationName: vm.locationName })
  }
  return (
    <Dialog title={`Clone ${vm.name}`} verb="Clone" doing="Cloning…" act={act} close={close}>
      <Field
        label="Name of the copy"
        name="newName"
        required
        autofocus
        defaultValue={`${vm.name}-copy`}
        autocomplete="off"
      />
    </Dialog>
  )
}

const DeleteDialog = ({ vm, close }: AskProps) => {
  const act = async () => {
    await service.deleteVm({ name: vm.name, storage: vm.locationName })
    location.hash = '#/'
  }
  return (
    <Dialog title={`Delete ${vm.name}?`} verb="Delete" doing="Deleting…" dangerous act={act} close={close}>
      <p>Its disk with {bytes(vm.diskSize.allocated)} goes with it. This cannot be undone.</p>
    </Dialog>
  )
}
