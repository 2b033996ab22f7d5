/** Pushes the disk of a VM: a copy of it as it was when that began, so that the VM can be used meanwhile. */
import { existsSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { images } from '@backlot/contract/limits'
import { ownDisk } from '../disks/own-disk.ts'
import { copyDisk } from '../disks/qemu-img.ts'
import { makeFolder, replaceFile, syncFile } from '../files/durable.ts'
import type { Handlers, Host } from '../host/host.ts'
import type { StartedTask, Task } from '../host/operations.ts'
import { exclusively, findVm, reread } from '../lifecycle/find.ts'
import { vmPath } from '../vms/vm-directory.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { KnownLayers } from './layers/known-layers.ts'
import type { Compression } from './layers/pack.ts'
import { pushImage } from './push.ts'
import { type ImageReference, parseReference, repositoryOf } from './reference.ts'
import { Repository } from './registry/registry.ts'
import { ImageStore } from './store.ts'
import type { Transfer } from './transfers.ts'

interface PushInput {
  readonly reference: ImageReference
  readonly tags: readonly string[]
  readonly chunkBytes: number
  readonly compression: Compression
}

/** A push that the service goes on with. */
export type PushTransfer = Transfer<PushInput>

export const pushVm: Handlers['pushVm'] = async (input, host) => {
  const { name, imageName, tags, chunkSizeMb = images.chunkSizeMb, compression = 'zstd' } = input
  const settings = await host.settings.read()
  const reference = parseReference(imageName, {
    registry: input.registry ?? settings.registry,
    organization: input.organization ?? settings.organization,
  })
  const { path, storage, name: found } = await findVm(host, name, input.storage)
  const place: VmPlace = { name: found, path, storage }
  host.machines.refuseRunning(place, stopFirst)
  await host.lockHome()
  const transfer: PushTransfer = {
    id: crypto.randomUUID(),
    kind: 'push',
    place,
    input: { reference, tags, chunkBytes: chunkSizeMb * 2 ** 20, compression },
  }
  const { id } = await host.transfers.begin(transfer, (work) => push(host, transfer, work))
  return { message: `Image is being pushed: ${imageName}`, name, imageName, tags: [...tags], operationId: id }
}

const stopFirst = 'Stop it first to push its disk.'

/** Goes on with a push that a service before this one has begun. */
export const resumePush = (host: Host, transfer: PushTransfer): StartedTask<void> =>
  host.transfers.goOn(transfer, (work) => push(host, transfer, work))

const push = async (host: Host, { id, place, input }: PushTransfer, work: Task): Promise<void> => {
  const { cacheDirectory } = await host.settings.read()
  const store = new ImageStore(cacheDirectory)
  const { folder, lock } = store.push(id)
  await store.prepare()
  await store.exclusively([lock], work, () => pushFrom(host, place, input, store, folder, work))
}

const pushFrom = async (
  host: Host,
  place: VmPlace,
  { reference, tags, chunkBytes, compression }: PushInput,
  store: ImageStore,
  folder: string,
  work: Task,
): Promise<void> => {
  try {
    await makeFolder(folder)
    const configuration = await copyOf(host, place, folder, work)
    const repository = new Repository(reference.registry, repositoryOf(reference), 'push')
    const at = (file: string) => (existsSync(join(folder, file)) ? join(folder, file) : undefined)
    const image = { disk: join(folder, 'disk.raw'), kernel: at('kernel'), initrd: at('initrd'), configuration }
    await pushImage(repository, image, { tags, chunkBytes, compression, known: new KnownLayers(store) }, work)
  } finally {
    if (!host.operations.isEnding) await rm(folder, { recursive: true, force: true })
  }
}

/** Copies what is pushed, unless a service before this one has, and gives the configuration of the image. */
const copyOf = async (host: Host, place: VmPlace, folder: string, work: Task): Promise<Record<string, unknown>> => {
  const file = join(folder, 'config.json')
  if (existsSync(file)) return (await Bun.file(file).json()) as Record<string, unknown>
  return exclusively(
    host,
    place,
    async () => {
      const { settings } = await reread(host, place)
      host.machines.refuseRunning(place, stopFirst)
      work.step('copying the disk')
      const disk = vmPath(place.path, 'disk')
      const bytes = (await ownDisk(disk)).disk.virtual_size
      await copyDisk({ path: disk, format: 'qcow2', bytes }, { path: join(folder, 'disk.raw'), format: 'raw' }, work)
      for (const file of ['kernel', 'initrd'] as const) {
        const path = vmPath(place.path, file)
        if (existsSync(path)) await copyFile(path, join(folder, file))
      }
      const { display, append, ports } = settings
      const configuration = {
        os: settings.os,
        guestOs: settings.guestOs,
        cpuCount: settings.cpu,
        memorySize: settings.memoryBytes,
        diskSize: bytes,
        display: `${display.width}x${display.height}`,
        backlot: {
          ports,
          ...(append !== undefined && { append }),
          ...(existsSync(vmPath(place.path, 'executable')) && { runsExecutable: true }),
        },
      }
      await syncFile(join(folder, 'disk.raw'))
      await replaceFile(file, JSON.stringify(configuration))
      return configuration
    },
    work.signal,
  )
}
