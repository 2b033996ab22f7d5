/** What stands on this machine: the parts of a private desktop, and the daemon's socket. */
import { Failure } from '@backlot/contract/failure'
import { connect } from '@backlot/driver/edges/client/connection'
import { checkSocket } from '@backlot/driver/edges/folder'
import { findPrograms } from '@backlot/headless'
import { reachOf } from '../tool-call.ts'
import { type CheckResult, limited, missing, works } from './finding.ts'

export const privateDesktop = (): CheckResult => {
  try {
    const { xServer } = findPrograms(process.env.PATH ?? '')
    return works(`All parts are here; the X server is "${xServer}".`)
  } catch (error) {
    const { message, data } = Failure.from(error)
    const packages = Array.isArray(data.packages) ? data.packages.join(' ') : ''
    return missing(message, `apt-get install ${packages}`)
  }
}

export const daemon = async (): Promise<CheckResult> => {
  let socket = ''
  try {
    const reach = reachOf(undefined)
    socket = reach.socket
    checkSocket(socket)
    const connection = await connect(socket, reach.expect)
    connection.close()
    return works(`One runs with pid ${connection.greeting.pid} on "${socket}".`)
  } catch (error) {
    const { code, message } = Failure.from(error)
    if (code === 'not_running') return works(`None runs; the first call starts one on "${socket}".`)
    if (code === 'daemon_mismatch') return limited(message, 'backlot-driver stop')
    if (code === 'invalid_environment') return missing(message, 'export HOME=~')
    return missing(message, `export XDG_RUNTIME_DIR="$(mktemp -d)"`)
  }
}
