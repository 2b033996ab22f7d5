/** Lists templates and removes them. */
import { stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import type { Template } from '@backlot/contract/vmhost/template'
import type { Handlers, Host } from '../host/host.ts'
import { collectBases } from '../lifecycle/collect.ts'
import { exclusively } from '../lifecycle/find.ts'
import { templatePrefix, vmPath } from '../vms/vm-directory.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { templateState } from './limit.ts'
import { isHalfMade, templatesIn } from './sweep.ts'

export const listTemplates: Handlers['listTemplates'] = async ({ storage }, host) => {
  const found = (await templatesIn(await host.store.storages(storage))).filter((each) => !isHalfMade(each))
  // One that is removed this very moment is none.
  const templates = await Promise.all(found.map((each) => templateOf(host, each).catch(() => undefined)))
  return templates
    .filter((each) => each !== undefined)
    .sort((one, other) => one.createdAt.localeCompare(other.createdAt))
}

const idOf = ({ name }: VmPlace): string => name.slice(templatePrefix.length)

const templateOf = async (host: Host, place: VmPlace): Promise<Template> => {
  const { settings } = await host.store.reread(place)
  const { usedAtMs } = await templateState(place)
  return {
    id: idOf(place),
    image: settings.image ?? null,
    cpuCount: settings.cpu,
    memorySize: settings.memoryBytes,
    createdAt: settings.createdAt,
    usedAt: new Date(usedAtMs).toISOString(),
    memoryBytes: (await stat(vmPath(place.path, 'memory'))).blocks * 512,
    locationName: place.storage.name,
  }
}

export const deleteTemplate: Handlers['deleteTemplate'] = async ({ id, storage }, host) => {
  const found = await templatesIn(await host.store.storages(storage))
  const template = found.find((each) => idOf(each) === id && !isHalfMade(each))
  if (template === undefined) {
    throw new Failure('template_not_found', `There is no template "${id}"; \`backlot vm template ls\` lists them.`, {
      id,
    })
  }
  await exclusively(host, template, () => host.store.remove(template))
  await collectBases(host, template.storage)
  host.log.write('info', 'template_deleted', { id })
  return { message: `Template deleted: ${id}` }
}
