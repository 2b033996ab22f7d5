/** Pulls an image and makes a VM of it. */
import { join } from 'node:path'
import type { Input } from '@backlot/contract/endpoint'
import { Failure } from '@backlot/contract/failure'
import { bytesOf } from '@backlot/contract/fields/size'
import type { vmHost } from '@backlot/contract/vmhost'
import type { LocalImage } from '@backlot/contract/vmhost/image'
import { vmName } from '@backlot/contract/vmhost/vm'
import { Value } from '@sinclair/typebox/value'
import { core } from '../core.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { StartedTask, Task } from '../host/operations.ts'
import type { RunOptions } from '../hypervisors/hypervisor.ts'
import { displayOf, emitVmStatus, memoryBytesOf } from '../lifecycle/create.ts'
import { createPlanned } from '../lifecycle/create-planned.ts'
import { beginRun } from '../lifecycle/start.ts'
import { planOf } from '../sources/local-image.ts'
import { newIdentity, type VmSettings } from '../vms/vm-settings.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { pullImage as pullIntoStore } from './pull.ts'
import { type ImageReference, parseReference, referenceText } from './reference.ts'
import { ImageStore, type StoredImage } from './store.ts'
import type { Transfer } from './transfers.ts'

/** What a pull needs, and what is to be done with the VM afterwards. */
interface PullInput {
  readonly reference: ImageReference
  readonly run?: RunOptions
}

/** A pull that the service goes on with. */
export type PullTransfer = Transfer<PullInput>

type PullImageInput = Input<(typeof vmHost)['pullImage']>

export const pullImage: Handlers['pullImage'] = async (input, host) => {
  const { place, reference, begun } = await begin(host, input)
  await begun.done
  const image = referenceText(reference)
  return { message: `Image pulled: ${image}`, image: input.image, name: place.name, operationId: begun.id }
}

export const startPull: Handlers['startPull'] = async (input, host) => {
  const { place, reference, begun } = await begin(host, input)
  const message = `Image is being pulled: ${referenceText(reference)}`
  return { message, image: input.image, name: place.name, status: 'pulling', operationId: begun.id }
}

/** Makes the VM `name` of `image` and starts it: what `run` does with a name that is no VM. */
export const pullAndRun = async (
  host: Host,
  image: string,
  name: string,
  storage: string | undefined,
  run: RunOptions,
) => {
  const { begun } = await begin(host, { image, name, ...(storage !== undefined && { storage }) }, run)
  const message = `Virtual machine is being pulled and started: ${name}`
  return { message, name, status: 'pending' as const, operationId: begun.id }
}

/** Goes on with a pull that a service before this one has begun. */
export const resumePull = (host: Host, transfer: PullTransfer): StartedTask<void> =>
  host.transfers.goOn(transfer, (work) => pull(host, transfer, work))

const begin = async (host: Host, asked: PullImageInput, run?: RunOptions) => {
  const settings = await host.settings.read()
  const reference = parseReference(asked.image, {
    registry: asked.registry ?? settings.registry,
    organization: asked.organization ?? settings.organization,
  })
  const name = asked.name ?? `${reference.name}_${reference.tag}`
  if (!Value.Check(vmName, name)) {
    throw new Failure('invalid_argument', `No VM can be called "${name}"; give it another \`name\`.`, {
      argument: 'name',
    })
  }
  const storage = await host.store.target(asked.storage)
  const place: VmPlace = { name, path: join(storage.path, name), storage }
  await host.store.refuseTaken(place)
  await host.lockHome()
  if (host.creations.has(place.path)) {
    throw new Failure('vm_exists', `A VM "${name}" is being made in "${storage.name}" already; name another.`, { name })
  }
  const input: PullInput = { reference, ...(run !== undefined && { run }) }
  const transfer: PullTransfer = { id: crypto.randomUUID(), kind: 'pull', place, input }
  const begun = await host.transfers.begin(transfer, (work) => pull(host, transfer, work))
  return { place, reference, begun }
}

const pull = async (host: Host, { place, input: { reference, run } }: PullTransfer, work: Task): Promise<void> => {
  host.creations.set(place.path, { place, settings: unknownYet(reference), diskBytes: 0, operationId: work.id })
  emitVmStatus(host, place, 'pulling')
  try {
    // A service that died after the last step has left nothing but this to do.
    if ((await host.store.at(place.path)) === undefined) {
      const { cacheDirectory, cachingEnabled } = await host.settings.read()
      const store = new ImageStore(cacheDirectory)
      const pulling = { isKept: cachingEnabled, accept: refuseMacOs }
      await pullIntoStore(reference, store, pulling, work, (image) => makeOf(host, place, image, work))
    }
    // It is never seen as stopped where it is to run.
    if (run !== undefined) host.machines.announce(place)
  } catch (error) {
    // Another may have got the name in the last moment.
    if (host.creations.get(place.path)?.operationId === work.id) {
      host.creations.delete(place.path)
      emitVmStatus(host, place, null)
    }
    throw error
  }
  host.creations.delete(place.path)
  if (run === undefined) return emitVmStatus(host, place, 'stopped')
  try {
    await beginRun(host, await host.store.reread(place), run).done
  } finally {
    host.machines.giveUp(place)
  }
}

const refuseMacOs = (os: LocalImage['os']): void => {
  if (os !== 'macOS') return
  throw new Failure(
    'macos_unavailable',
    'A guest with macOS needs a Mac with Apple silicon; this host cannot run one. Use a service on a Mac.',
  )
}

/** Makes a VM of an image that is whole. */
const makeOf = async (host: Host, place: VmPlace, image: StoredImage, work: Task): Promise<void> => {
  const { about } = image
  refuseMacOs(about.os)
  const plan = await planOf(host, { ...image, label: referenceText(image) })
  const { cpu, memory, diskSize, display } = about.defaults
  const settings: VmSettings = {
    ...unknownYet(image),
    cpu,
    memoryBytes: memoryBytesOf(memory),
    display: displayOf(display),
    ...plan.settings,
  }
  const { virtual_size } = (await core().diskInfo(join(image.folder, about.disk))).disk
  const bytes = Math.max(virtual_size, Math.ceil(bytesOf(diskSize, 'diskSize') / 512) * 512)
  work.step('making the VM')
  await createPlanned(host, place, settings, plan, bytes, {}, work)
}

/** The settings as long as nobody knows what the image says. */
const unknownYet = (image: ImageReference): VmSettings => ({
  os: 'linux',
  guestOs: 'linux',
  cpu: 1,
  memoryBytes: 0,
  display: { width: 1024, height: 768 },
  ...newIdentity(),
  network: 'nat',
  ports: [],
  image: referenceText(image),
  createdAt: new Date().toISOString(),
})
