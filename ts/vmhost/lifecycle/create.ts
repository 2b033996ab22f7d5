/** Makes a VM: its settings, its disk, its seed, all or nothing. */

import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { bytesOf } from '@backlot/contract/fields/size'
import { largestDisplay } from '@backlot/contract/limits'
import { fileFailure } from '../files/file-failure.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { Work } from '../host/operations.ts'
import { sourceOf } from '../sources/index.ts'
import { placeExecutable } from '../sources/local-image.ts'
import type { CreateInput, Plan } from '../sources/source.ts'
import { writeSeed } from '../vms/seed.ts'
import { newIdentity, type VmSettings, writeNewSettings } from '../vms/vm-settings.ts'
import type { VmPlace } from '../vms/vm-store.ts'

/** Bytes of the smallest disk and the smallest memory that a guest can do anything with. */
const least = { disk: 2 ** 20, memory: 2 ** 20 * 16 }
/** The largest disk that every format and file system takes. */
const largestDisk = 2 ** 43

/** Port of the computer server, and that of SSH. */
const usualPorts = [22, 8000]

export const createVm: Handlers['createVm'] = async (input, host) => {
  refuseMac(input)
  const source = sourceOf(input)
  const diskBytes = diskBytesOf(input.diskSize)
  const memoryBytes = memoryBytesOf(input.memory)
  const storage = await host.store.target(input.storage)
  const place: VmPlace = { name: input.name, path: join(storage.path, input.name), storage }
  await host.store.refuseTaken(place)
  const plan = await source.plan(input, host)
  await host.takeCharge()
  if (host.creations.has(place.path)) {
    throw new Failure('vm_exists', `A VM "${input.name}" is being made in "${storage.name}" already; name another.`, {
      name: input.name,
    })
  }
  const settings: VmSettings = {
    os: 'linux',
    guestOs: 'linux',
    cpu: input.cpu,
    memoryBytes,
    display: displayOf(input.display),
    ...newIdentity(),
    network: input.network ?? 'nat',
    ports: usualPorts,
    createdAt: new Date().toISOString(),
    ...plan.settings,
  }
  const { id, done } = host.operations.begin('create', place, async (work) => {
    host.creations.set(place.path, { place, settings, diskBytes, operationId: work.id })
    tell(host, place, 'provisioning')
    try {
      await makePlanned(host, place, settings, plan, diskBytes, input, work)
    } catch (error) {
      host.creations.delete(place.path)
      tell(host, place, null)
      throw error
    }
    host.creations.delete(place.path)
    tell(host, place, 'stopped')
  })
  if (source.isLong) {
    const message = `Virtual machine is being created: ${input.name}`
    return { message, name: input.name, status: 'provisioning', operationId: id }
  }
  await done
  const message = `Virtual machine created: ${input.name}`
  return { message, name: input.name, status: 'stopped', operationId: id }
}

/** Makes the VM that was planned, all or nothing. */
export const makePlanned = async (
  host: Host,
  place: VmPlace,
  settings: VmSettings,
  plan: Plan,
  diskBytes: number,
  { userData, executable }: Pick<CreateInput, 'userData' | 'executable'>,
  work: Work,
): Promise<void> => {
  try {
    await host.store.make(place.storage, place.name, async (folder) => {
      await plan.fill(folder, place.storage, diskBytes, work)
      if (executable) await placeExecutable(host, folder, work)
      work.signal.throwIfAborted()
      if (plan.seeded || userData !== undefined) {
        await writeSeed(folder, { instanceId: settings.instanceId, hostName: place.name, userData })
      }
      await writeNewSettings(folder, settings)
      work.signal.throwIfAborted()
    })
  } catch (error) {
    throw fileFailure(error, place.storage.path)
  }
}

/** Tells who listens what a VM that is being made is now. */
export const tell = (
  host: Host,
  { name, storage }: VmPlace,
  status: 'provisioning' | 'pulling' | 'stopped' | null,
): void => host.events.emit({ type: 'vm', name, location: storage.name, status })

const refuseMac = ({ os, ipsw }: CreateInput): void => {
  if (os === 'macOS') {
    throw new Failure(
      'macos_unavailable',
      'A guest with macOS needs a Mac with Apple silicon; this host cannot run one. Use "linux", or a service on a Mac.',
    )
  }
  if (ipsw !== undefined) {
    throw new Failure('macos_only', '"ipsw" is for guests with macOS; leave it out, or use "iso" or "image".', {
      argument: 'ipsw',
    })
  }
}

/** Bytes of a disk, in whole sectors; throws `invalid_argument`. */
export const diskBytesOf = (text: string): number => {
  const bytes = Math.ceil(bytesOf(text, 'diskSize') / 512) * 512
  if (bytes >= least.disk && bytes <= largestDisk) return bytes
  throw new Failure('invalid_argument', `"diskSize" is "${text}"; a disk has from 1MB to 8TB.`, {
    argument: 'diskSize',
  })
}

/** Bytes of memory; throws `invalid_argument`. */
export const memoryBytesOf = (text: string): number => {
  const bytes = bytesOf(text, 'memory')
  if (bytes >= least.memory) return bytes
  throw new Failure('invalid_argument', `"memory" is "${text}"; a guest needs 16MB at least.`, { argument: 'memory' })
}

/** The sides of `WIDTHxHEIGHT`; throws `invalid_argument`. */
export const displayOf = (text: string): VmSettings['display'] => {
  const [width = 0, height = 0] = text.split('x').map(Number)
  if (width <= largestDisplay.width && height <= largestDisplay.height) return { width, height }
  const most = `${largestDisplay.width}x${largestDisplay.height}`
  throw new Failure('invalid_argument', `"display" is "${text}"; the screen of a VM has ${most} pixels at most.`, {
    argument: 'display',
  })
}
