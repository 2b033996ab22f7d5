/** The VMs of the host, one row each, and its sandboxes below. */
import { vmAnchor } from '@backlot/contract/vmhost/console'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { bytes } from './format.ts'
import { type HostState, vmKey } from './host-state.ts'
import { ProgressLine } from './progress-line.tsx'
import { SandboxList } from './sandboxes/list.tsx'
import type { SandboxState } from './sandboxes/state.ts'

/** The list; the one called `shown` is marked. */
export const VmList = (props: {
  readonly vms: readonly Vm[]
  readonly shown: string
  readonly host: HostState
  readonly others: SandboxState
}) => {
  const { vms, shown, host, others } = props
  const several = new Set(vms.map(({ locationName }) => locationName)).size > 1
  return (
    <nav aria-label="Virtual machines and sandboxes">
      <h2>VMs</h2>
      <ul>
        {vms.map((vm) => {
          const key = vmKey(vm)
          const running = host.operationsOf(vm).find(({ state }) => state === 'running')
          return (
            <li key={key}>
              <a href={`#${vmAnchor(vm)}`} aria-current={key === shown ? 'page' : undefined}>
                <span class={`dot ${vm.status}`} aria-hidden="true" />
                <strong>{vm.name}</strong>
                <span class="status">{vm.status}</span>
                <small>
                  {vm.cpuCount} CPU, {bytes(vm.memorySize)}
                  {several && `, in ${vm.locationName}`}
                </small>
                {running !== undefined && <ProgressLine operation={running} />}
              </a>
            </li>
          )
        })}
      </ul>
      {host.isRead && vms.length === 0 && <p class="empty">No VMs</p>}
      <SandboxList state={others} shown={shown} />
    </nav>
  )
}
