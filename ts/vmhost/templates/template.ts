/** Templates: VMs that nobody sees, saved after their first boot, of which others are made as forks. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { hasRoomToShare, makeForks } from '../forks/make-forks.ts'
import type { Host } from '../host/host.ts'
import type { Task } from '../host/operations.ts'
import { exclusively } from '../lifecycle/find.ts'
import { readSaved, type SavedState } from '../snapshots/saved-state.ts'
import type { Storage } from '../storage/storage.ts'
import { templatePrefix } from '../vms/vm-directory.ts'
import { placeOf, type StoredVm, type VmPlace } from '../vms/vm-store.ts'
import { bootTemplate, type TemplateOf } from './boot.ts'
import { keepWithinLimit, markUsed } from './limit.ts'
import { isHalfMade } from './sweep.ts'

/** Where the template of such VMs is in a storage, or would be; throws `invalid_argument` where there can be none. */
export const templatePlace = async (host: Host, storage: Storage, about: TemplateOf): Promise<VmPlace> => {
  const { plan, settings, diskBytes, input } = about
  if (plan.identity === undefined) {
    throw new Failure(
      'invalid_argument',
      '"template" is for VMs of an image of this machine; name one, or leave it out.',
      { argument: 'template' },
    )
  }
  const { os, guestOs, cpu, memoryBytes, display, network, ports, append } = settings
  const own = {
    ...{ image: plan.identity, os, guestOs, cpu, memoryBytes, display, network, ports, append, diskBytes },
    ...{ userData: input.userData, executable: input.executable === true && (await executableIdentity(host)) },
    hypervisor: await host.machines.hypervisor.identity(),
  }
  const hash = createHash('sha256').update(JSON.stringify(own)).digest('hex').slice(0, 16)
  return placeOf(storage, `${templatePrefix}${hash}`)
}

const executableIdentity = async ({ executable }: Host): Promise<string> => {
  if (executable === undefined) return 'none'
  const { size, mtimeMs } = await stat(executable)
  return `${executable} ${size} ${mtimeMs}`
}

/** Makes a VM as a fork of its template, which is booted and saved first where there is none; it is suspended then. */
export const makeFromTemplate = async (
  host: Host,
  place: VmPlace,
  template: VmPlace,
  about: TemplateOf,
  work: Task,
): Promise<void> => {
  using _ = host.templates.use(template)
  await host.turns.take(template.path, async () => {
    if (isHalfMade(template)) await bootTemplate(host, template, about, work)
  })
  const fork = async () => {
    const vm = await host.store.reread(template)
    const saved = await readSaved(vm.path)
    if (saved === undefined) throw new Failure('vm_busy', 'The template was removed meanwhile; ask again.', {})
    await keepImage(host, vm, saved, work)
    work.step('laying the disk')
    await makeForks(host, vm, saved, { names: [place.name] }, work.signal)
    await markUsed(template)
  }
  await exclusively(host, template, fork, work.signal)
  await keepWithinLimit(host, template.storage)
}

/** Makes the memory of a template ready for the forks that go on from it soon; where it cannot be, each reads its own copy. */
const keepImage = async (host: Host, template: StoredVm, saved: SavedState, work: Task): Promise<void> => {
  if (!(await hasRoomToShare(host, template, 1).catch(() => false))) return
  work.step('sharing the memory')
  const image = await host.images.of(template, saved).catch(() => undefined)
  image?.[Symbol.dispose]()
  work.signal.throwIfAborted()
}
