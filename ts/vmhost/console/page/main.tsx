/** The console: the VMs and sandboxes of a host, live, and what one does with them. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import { sandboxAnchor } from '@backlot/contract/vmhost/sandboxes'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { render } from 'preact'
import { useEffect, useReducer, useState } from 'preact/hooks'
import { CreateDialog } from './create-dialog.tsx'
import { HostState, vmKey } from './host-state.ts'
import { ImageView } from './image-view.tsx'
import { LogView } from './log-view.tsx'
import { SandboxState } from './sandboxes/state.ts'
import { SandboxView } from './sandboxes/view.tsx'
import { VmList } from './vm-list.tsx'
import { VmView } from './vm-view.tsx'

/** What the address says after `#`: a VM's key, its name alone, a sandbox, `images`, `logs`, or nothing. */
const place = (): string => decodeURIComponent(location.hash.slice(1)).replace(/^\/$/, '')

/** What is no VM after `#`. */
const pages = ['images', 'logs']

/** Milliseconds between two looks at the VM that is shown: its disk grows without an event. */
const pollIntervalMs = 5_000

const connections = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'No connection to the service; trying again…',
} as const

const usePlace = (): string => {
  const [shown, show] = useState(place)
  useEffect(() => {
    const follow = () => show(place())
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return shown
}

/** Reads the VM that is shown again and again, and looks for the one that the address names where it is not known. */
const useLookAgain = (host: HostState, vm: Vm | undefined, unknown: string | undefined): void => {
  useEffect(() => {
    if (unknown === undefined) return
    void host.lookFor(unknown).then((found) => {
      if (found !== undefined && place() === unknown) location.replace(`#${vmAnchor(found)}`)
    })
  }, [host, unknown])
  useEffect(() => {
    const look = () => vm?.status === 'running' && host.readVm(vm.name, vm.locationName)
    const timer = setInterval(look, pollIntervalMs)
    return () => clearInterval(timer)
  }, [host, vm?.name, vm?.locationName, vm?.status])
}

interface Known {
  readonly host: HostState
  readonly others: SandboxState
}

const Tab = ({ name, text, shown }: { readonly name: string; readonly text: string; readonly shown: string }) => (
  <a class={shown === name ? 'tab current' : 'tab'} href={`#${name}`}>
    {text}
  </a>
)

const Console = ({ host, others }: Known) => {
  const [, refresh] = useReducer((count: number) => count + 1, 0)
  const [isCreating, setCreating] = useState(false)
  const shown = usePlace()
  useEffect(() => host.follow(() => refresh(undefined)), [host])
  useEffect(() => others.follow(() => refresh(undefined)), [others])
  const vms = host.sorted()
  const vm = vms.find((each) => vmKey(each) === shown)
  const sandbox = others.sandboxes.find(({ name }) => sandboxAnchor(name) === shown)
  const isOfSandbox = shown.startsWith(sandboxAnchor(''))
  const isUnknown = host.isRead && vm === undefined && shown !== '' && !pages.includes(shown) && !isOfSandbox
  useLookAgain(host, vm, isUnknown ? shown : undefined)
  return (
    <>
      <header>
        <h1>
          <a href="#/">Backlot</a>
        </h1>
        <p class={`connection ${host.connection}`} role="status">
          {host.connection === 'lost' && host.fault !== undefined ? host.fault : connections[host.connection]}
        </p>
        <Tab name="images" text="Images" shown={shown} />
        <Tab name="logs" text="Log" shown={shown} />
        <a class="tab" href="/docs">
          API
        </a>
        <button type="button" class="primary" onClick={() => setCreating(true)} disabled={!host.isRead}>
          New VM
        </button>
      </header>
      <VmList vms={vms} shown={shown} host={host} others={others} />
      <main>
        {shown === 'logs' ? (
          <LogView />
        ) : shown === 'images' ? (
          <ImageView host={host} />
        ) : vm !== undefined ? (
          <VmView key={vmKey(vm)} vm={vm} operations={host.operationsOf(vm)} storage={host.storage} />
        ) : sandbox !== undefined ? (
          <SandboxView key={sandbox.name} sandbox={sandbox} state={others} />
        ) : isOfSandbox ? (
          <p class="lone">{sandboxMissing(others)}</p>
        ) : (
          <Welcome host={host} isMissing={shown !== ''} create={() => setCreating(true)} />
        )}
      </main>
      {isCreating && <CreateDialog storage={host.storage} close={() => setCreating(false)} />}
    </>
  )
}

const sandboxMissing = ({ isRead, fault }: SandboxState): string => {
  if (isRead) return 'There is no such sandbox here any more. Choose another from the list.'
  return fault === undefined ? 'Reading the sandboxes…' : `The sandboxes cannot be read: ${fault}`
}

const Welcome = (props: { readonly host: HostState; readonly isMissing: boolean; readonly create: () => void }) => {
  const { host, isMissing, create } = props
  if (!host.isRead) {
    return <p class="lone">{host.fault === undefined ? 'Reading the VMs…' : `The VMs cannot be read: ${host.fault}`}</p>
  }
  if (isMissing) return <p class="lone">There is no such VM here any more. Choose another from the list.</p>
  if (host.vms.size > 0) return <p class="lone">Choose a VM to see its screen and what it does.</p>
  return (
    <div class="lone">
      <p>There is no VM on this host yet.</p>
      <button type="button" class="primary" onClick={create}>
        Make the first one
      </button>
    </div>
  )
}

// The link that opened the page has been used up: it is no address to come back to.
if (location.search !== '') history.replaceState(null, '', `/${location.hash}`)
const root = document.getElementById('console')
if (root !== null) render(<Console host={new HostState()} others={new SandboxState()} />, root)
