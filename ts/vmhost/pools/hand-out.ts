/** Makes a fork that waits in a pool the VM of a name. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { clockCommand } from '../forks/identity.ts'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import { exclusively } from '../lifecycle/find.ts'
import { hostNameOf, readUserData, writeSeed } from '../vms/seed.ts'
import { seedFolder } from '../vms/vm-directory.ts'
import { writeVmSettings } from '../vms/vm-settings.ts'
import { placeOf, type StoredVm, type VmPlace } from '../vms/vm-store.ts'
import type { ForkRequest, Identity } from './pools.ts'

/** Milliseconds in which a guest takes its name and the time. */
const withinMs = 30_000

/**
 * Gives it the name and what belongs to that, and then its folder; whoever dies before that leaves a fork of the pool, and
 * after that a VM that runs. Undefined where it has ended. Throws `vm_exists`, `agent_unavailable`, `guest_timeout`.
 */
export const claimFork = (host: Host, fork: VmPlace, asked: ForkRequest, work: Task): Promise<Identity | undefined> => {
  const to = placeOf(fork.storage, asked.name)
  const give = async () => {
    const vm = await host.store.reread(fork)
    const { identity = 'shared' } = vm.settings
    if (identity === 'own') await nameGuest(host, vm, asked.name)
    await rewriteSeed(vm, asked)
    await writeVmSettings(vm.path, { ...vm.settings, createdAt: new Date().toISOString() })
    // Whoever collects the bases meanwhile finds the disk under one name or the other.
    const renamed: VmPlace[] = []
    const rename = async () => {
      const named = await host.bases.exclusively(fork.storage, () => host.store.rename(vm, asked.name))
      renamed.push(named)
      return named
    }
    if ((await host.machines.move(vm, rename)) !== undefined) return identity
    // It ended in that moment: whoever asked gets another of this name.
    for (const place of renamed) await host.store.remove(place)
    return undefined
  }
  // Nobody else is to find its hypervisor under the new name first.
  return exclusively(host, fork, () => host.turns.take(to.path, give), work.signal)
}

/** The clock of a guest may have gone wrong while it waited. */
const nameGuest = async ({ machines }: Host, { path }: VmPlace, name: string): Promise<void> => {
  const command = `set -e
${clockCommand()}
echo ${hostNameOf(name)} >/etc/hostname
hostname ${hostNameOf(name)}`
  const done = await machines.get(path)?.guest.execute({ command }, withinMs)
  if (done?.exitCode !== 0) throw new Error(`its guest says "${done?.stderr.trim() ?? 'nothing'}"`)
}

const rewriteSeed = async ({ path, settings }: StoredVm, { name, userDataOf }: ForkRequest): Promise<void> => {
  const userData = await readUserData(path)
  if (userData === undefined) return
  await rm(join(path, seedFolder), { recursive: true })
  await writeSeed(path, { instanceId: settings.instanceId, hostName: name, userData: userDataOf(userData) })
}
