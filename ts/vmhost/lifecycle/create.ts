/** Makes a VM: its settings, its disk, its seed, all or nothing. */

import { join } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import { bytesOf } from '@backlot/contract/fields/size'
import { largestDisplay } from '@backlot/contract/limits'
import type { Handlers, Host } from '../host/host.ts'
import { sourceOf } from '../sources/index.ts'
import type { CreateInput } from '../sources/source.ts'
import { isHalfMade } from '../templates/sweep.ts'
import { makeFromTemplate, templatePlace } from '../templates/template.ts'
import { newIdentity, type VmSettings } from '../vms/vm-settings.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { createPlanned } from './create-planned.ts'

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
  await host.lockHome()
  if (host.creations.has(place.path)) {
    throw new Failure('vm_exists', `A VM "${input.name}" is being made in "${storage.name}" already; name another.`, {
      name: input.name,
    })
  }
  const settings = { ...settingsOf(input, memoryBytes), ...plan.settings }
  const about = { plan, settings, diskBytes, input }
  const template = input.template ? await templatePlace(host, storage, about) : undefined
  const status = template === undefined ? 'stopped' : 'suspended'
  const { id, done } = host.operations.begin('create', place, async (work) => {
    host.creations.set(place.path, { place, settings, diskBytes, operationId: work.id })
    emitVmStatus(host, place, 'provisioning')
    try {
      if (template === undefined) await createPlanned(host, place, settings, plan, diskBytes, input, work)
      else await makeFromTemplate(host, place, template, about, work)
    } catch (error) {
      host.creations.delete(place.path)
      emitVmStatus(host, place, null)
      throw error
    }
    host.creations.delete(place.path)
    emitVmStatus(host, place, status)
  })
  if (source.isLong || (template !== undefined && isHalfMade(template))) {
    const message = `Virtual machine is being created: ${input.name}`
    return { message, name: input.name, status: 'provisioning', operationId: id }
  }
  await done
  const message = `Virtual machine created: ${input.name}`
  return { message, name: input.name, status, operationId: id }
}

/** The settings of a new VM, but for what its source says. */
const settingsOf = (input: CreateInput, memoryBytes: number): VmSettings => ({
  os: 'linux',
  guestOs: 'linux',
  cpu: input.cpu,
  memoryBytes,
  display: displayOf(input.display),
  ...newIdentity(),
  network: input.network ?? 'nat',
  ports: usualPorts,
  createdAt: new Date().toISOString(),
})

/** Tells who listens what a VM that is being made is now. */
export const emitVmStatus = (
  host: Host,
  { name, storage }: VmPlace,
  status: 'provisioning' | 'pulling' | 'stopped' | 'suspended' | null,
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
