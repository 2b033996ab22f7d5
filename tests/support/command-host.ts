/** A VM host for tests of commands: what they are given to find it, and the image that they make VMs of. */
import { linuxMinimal, testImages } from './image.ts'
import { startVmHost, type VmHost } from './vmhost.ts'

/** Starts the host, with linux-minimal in its cache; `env` leads commands to it. */
export const startCommandHost = async (): Promise<{ host: VmHost; env: Record<string, string> }> => {
  await linuxMinimal()
  const host = await startVmHost()
  await host.host('config', 'set', '--cache-directory', testImages)
  return { host, env: { BACKLOT_HOST_URL: host.url, BACKLOT_HOME: host.home } }
}
