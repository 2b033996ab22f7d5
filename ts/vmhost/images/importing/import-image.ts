/** The operation that imports an image, which goes on when the service is started again. */
import { join } from 'node:path'
import { imageFolder } from '@backlot/contract/vmhost/image'
import type { Handlers, Host } from '../../host/host.ts'
import type { StartedTask, Task } from '../../host/operations.ts'
import { readableFile } from '../../storage/directory.ts'
import type { VmPlace } from '../../vms/vm-store.ts'
import type { Transfer } from '../transfers.ts'
import { type Import, importImage as importInto, plannedImport } from './import.ts'

/** An import that the service goes on with. */
export type ImportTransfer = Transfer<Import>

export const importImage: Handlers['importImage'] = async ({ source, name, os }, host) => {
  const planned = plannedImport(source, name, os)
  // Whoever names a file that is not there hears of it at once.
  if (!/^https?:/i.test(source)) await readableFile(source)
  await host.lockHome()
  const { cacheDirectory: path } = await host.settings.read()
  const image = `${planned.name}:${planned.tag}`
  const place: VmPlace = {
    name: image,
    path: join(path, imageFolder(planned.name, planned.tag)),
    storage: { name: 'images', path },
  }
  const transfer: ImportTransfer = { id: crypto.randomUUID(), kind: 'import', place, input: planned }
  const { id } = await host.transfers.begin(transfer, (work) => bring(host, transfer, work))
  return { message: `Image is being imported: ${image}`, image, operationId: id }
}

/** Goes on with an import that a service before this one has begun. */
export const resumeImport = (host: Host, transfer: ImportTransfer): StartedTask<void> =>
  host.transfers.goOn(transfer, (work) => bring(host, transfer, work))

const bring = async (host: Host, { input }: ImportTransfer, work: Task): Promise<void> => {
  await importInto(input, await host.settings.read(), work)
}
