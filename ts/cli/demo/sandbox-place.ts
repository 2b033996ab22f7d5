/** Where the demo starts its sandbox: on the runtime that starts desktops quickest here. */
import { runtimes } from '@backlot/sdk'

/** Where the sandbox is started. */
export interface SandboxPlace {
  readonly runtime: 'local' | 'container'
  readonly network: 'loopback' | 'internet'
  /** Why no package is installed; undefined where one is. */
  readonly withoutPackages: string | undefined
}

/** The runtime that starts desktops quickest here, or why there is none. */
export const findPlace = async (): Promise<SandboxPlace | { readonly reason: string; readonly remedy: string }> => {
  const local = await runtimes.local().check()
  if (local.available) {
    const { isolation, network } = local.features
    const reachesPackages = Array.isArray(network) && network.includes('internet')
    if (isolation === 'own-root' && reachesPackages) {
      return { runtime: 'local', network: 'internet', withoutPackages: undefined }
    }
    const why =
      isolation === 'own-root'
        ? 'its network cannot reach the internet here (`backlot local levels` tells why)'
        : 'it sees the programs of this machine, to read; after `backlot local build` it has packages of its own'
    return { runtime: 'local', network: 'loopback', withoutPackages: why }
  }
  const container = await runtimes.container().check()
  if (container.available) return { runtime: 'container', network: 'internet', withoutPackages: undefined }
  return { reason: local.reason, remedy: local.remedy }
}
