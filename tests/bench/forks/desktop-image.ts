/** The image of a desktop for the benches, built once for all of them. */
import { join } from 'node:path'
import { withAllIds } from '@backlot/local'
import { runBacklot } from '../../support/backlot.ts'
import { runProgram } from '../../support/guest.ts'
import { testImages } from '../../support/image.ts'
import type { VmHost } from '../../support/vmhost.ts'
import { call } from '../../support/vms.ts'

/** Builds it where it is not there yet, which takes minutes; `home` is where that is done. */
export const buildDesktop = async (home: string): Promise<void> => {
  const built = await runBacklot(['image', 'build', 'linux-desktop', '--output', testImages], { BACKLOT_HOME: home })
  if (built.status !== 0) throw new Error(built.stderr)
  // Files of the root that it was made of belong to other users.
  await runProgram('env', ...withAllIds(), 'rm', '-rf', join(home, 'state/local-roots'))
}

/** Gives it to a host. */
export const giveDesktop = async (host: Pick<VmHost, 'home' | 'url'>): Promise<void> => {
  await buildDesktop(host.home)
  await call(host, 'POST', '/svc/config', { cacheDirectory: testImages })
}
