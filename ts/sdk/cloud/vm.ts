/** A VM of the cloud: its states, and where its services are. */
import type { CloudVm } from '@backlot/contract/cloud'
import type { OsType } from '../basics.ts'
import { UnsupportedError } from '../errors.ts'
import type { SandboxInfo, SandboxStatus } from '../sandbox/options.ts'

/** What the cloud's words for a state mean. */
const statuses: Readonly<Record<string, SandboxStatus>> = {
  running: 'running',
  ready: 'running',
  stopping: 'running',
  suspending: 'running',
  stopped: 'suspended',
  suspended: 'suspended',
  paused: 'suspended',
  provisioning: 'provisioning',
  creating: 'provisioning',
  pending: 'provisioning',
  queued: 'provisioning',
  starting: 'provisioning',
  booting: 'provisioning',
  restarting: 'provisioning',
}

/** The state of a VM; one that is unknown counts as stopped. */
export const statusOf = ({ status }: CloudVm): SandboxStatus => statuses[status.toLowerCase()] ?? 'stopped'

/** Whether a VM can be used. */
export const isReady = ({ status }: CloudVm): boolean => /^(running|ready)$/i.test(status)

/** Where a service of a VM is; undefined where the VM has it not, or not yet. */
const endpointOf = (vm: CloudVm, ...names: readonly string[]) => {
  for (const name of names) {
    const found = vm.endpoints?.find((each) => each.name === name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The address of an endpoint: as protected as the cloud's own, or more. */
const addressOf = ({ host, port }: { host: string; port: number }, baseUrl: string): string => {
  const isSecure = baseUrl.startsWith('https:') || port === 443 || port === 8443
  return `${isSecure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Address of a VM's computer server. */
export const serverOf = (vm: CloudVm, baseUrl: string): string | undefined => {
  const endpoint = endpointOf(vm, 'computer-server', 'api')
  return endpoint && addressOf(endpoint, baseUrl)
}

/** Address of a VM's live screen; with `share` its password is in it. Throws `unsupported` where it has none. */
export const displayOf = (
  vm: CloudVm,
  baseUrl: string,
  { share = false, viewOnly = false }: { share?: boolean | undefined; viewOnly?: boolean | undefined },
): string => {
  const endpoint = endpointOf(vm, 'vnc')
  if (endpoint === undefined) {
    throw new UnsupportedError(`The sandbox "${vm.name}" exposes no screen. Take pictures with \`screenshot\`.`)
  }
  const url = new URL(`${addressOf(endpoint, baseUrl)}/vnc.html`)
  url.searchParams.set('autoconnect', 'true')
  if (viewOnly) url.searchParams.set('view_only', 'true')
  if (!share) return url.href
  if (!vm.password)
    throw new UnsupportedError(`The cloud gives no password for the screen of "${vm.name}". Share it as it is.`)
  // What stands behind `#` is not sent to servers, and not in their logs; the page reads it there too.
  url.hash = new URLSearchParams({ password: vm.password }).toString()
  return url.href
}

const osTypes: readonly string[] = ['linux', 'macos', 'windows', 'android'] satisfies OsType[]

/** What is known of a VM. */
export const infoOfVm = (vm: CloudVm, baseUrl: string): SandboxInfo => {
  const vnc = endpointOf(vm, 'vnc')
  const os = vm.os?.toLowerCase() ?? ''
  return {
    name: vm.name,
    status: statusOf(vm),
    source: 'cloud',
    osType: osTypes.includes(os) ? (os as OsType) : null,
    host: vm.host ?? null,
    vncUrl: vnc === undefined ? null : addressOf(vnc, baseUrl),
    apiUrl: serverOf(vm, baseUrl) ?? null,
    createdAt: vm.created_at ?? null,
    expiresAt: null,
    ephemeral: false,
    isolation: 'vm',
    labels: {},
    warnings:
      vm.status.toLowerCase() in statuses
        ? []
        : [`The cloud says that it is "${vm.status}", which is no state known here.`],
  }
}
