/** Where the screen of a VM is. */
import { Failure } from '@backlot/contract/failure'
import type { Vm } from '@backlot/contract/vmhost/vm'
import type { ScreenAddress } from '@backlot/serve'

/** Where the screen of a VM is reached; throws `no_screen` where it has none now. */
export const screenOf = ({ name, status, vncUrl }: Vm): ScreenAddress => {
  const [, hostname, port] = /^vnc:\/\/[^@]*@(.+):(\d+)$/.exec(vncUrl ?? '') ?? []
  if (hostname !== undefined && port !== undefined) return { hostname, port: Number(port) }
  const why = status === 'running' ? 'it runs without a display' : `it is ${status}`
  throw new Failure('no_screen', `The VM "${name}" has no screen: ${why}. Run it with its display.`, { name })
}
