/** Keeps the templates of a location within their limit: those that were not used for longest go first. */
import { stat, utimes } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import { templatesKept } from '@backlot/contract/limits'
import type { Host } from '../host/host.ts'
import { collectBases } from '../lifecycle/collect.ts'
import { exclusively } from '../lifecycle/find.ts'
import type { Storage } from '../storage/storage.ts'
import { vmPath } from '../vms/vm-directory.ts'
import type { VmPlace } from '../vms/vm-store.ts'
import { isHalfMade, templatesIn } from './sweep.ts'

/** What a template takes, and when a VM was made of it last. */
export interface TemplateState {
  readonly usedAtMs: number
  /** On the drive: its memory and what its disk has beside the base that it lies on. */
  readonly bytes: number
}

/** Both, off its files: the record of its memory has the time of the last use, for nothing else changes that. */
export const templateState = async ({ path }: VmPlace): Promise<TemplateState> => {
  const [saved, memory, disk] = await Promise.all(
    (['saved', 'memory', 'disk'] as const).map((file) => stat(vmPath(path, file))),
  )
  return { usedAtMs: saved?.mtimeMs ?? 0, bytes: ((memory?.blocks ?? 0) + (disk?.blocks ?? 0)) * 512 }
}

/** Says that a VM is made of it now. */
export const markUsed = async ({ path }: VmPlace): Promise<void> => {
  const now = new Date()
  await utimes(vmPath(path, 'saved'), now, now)
}

/** Those that are too many, the one that was not used for longest first. */
export const tooMany = <Each extends TemplateState>(
  templates: readonly Each[],
  limit: { readonly most: number; readonly bytes: number } = templatesKept,
): Each[] => {
  const newestFirst = [...templates].sort((one, other) => other.usedAtMs - one.usedAtMs)
  let bytes = 0
  const kept = newestFirst.findIndex((each, index) => {
    bytes += each.bytes
    return index >= limit.most || bytes > limit.bytes
  })
  // The last one that was used stays, however large it is.
  return kept === -1 ? [] : newestFirst.slice(Math.max(1, kept)).reverse()
}

/** Removes those of a location that are too many and that nobody uses; their forks lose nothing. What fails is logged. */
export const keepWithinLimit = async (host: Host, storage: Storage): Promise<void> => {
  try {
    const places = (await templatesIn([storage])).filter((each) => !isHalfMade(each))
    const states = await Promise.all(
      places.map((place) =>
        templateState(place).then(
          (state) => [{ place, ...state }],
          // It is removed this very moment.
          () => [],
        ),
      ),
    )
    const removed: VmPlace[] = []
    for (const { place } of tooMany(states.flat())) {
      if (host.templates.has(place)) continue
      const remove = async () => {
        if (host.templates.has(place) || isHalfMade(place)) return
        await host.store.remove(place)
        removed.push(place)
        host.log.write('info', 'template_deleted', { id: place.name, because: 'limit' })
      }
      await exclusively(host, place, remove)
    }
    if (removed.length > 0) await collectBases(host, storage)
  } catch (error) {
    const { code, message } = Failure.from(error)
    host.log.write('error', code, { message })
  }
}
