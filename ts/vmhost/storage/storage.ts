/** Which folder of VMs a request means. */
import { join } from 'node:path'
import type { Location } from '@backlot/contract/vmhost/location'
import type { Settings } from '../host/settings.ts'
import { directoryPath } from './directory.ts'
import { findLocation, locationsOf } from './locations.ts'
import { realPath } from './real-path.ts'

/** A location by its name, or a folder that is none by its path. */
export type Storage = Location

/** The location whose VMs are listed only when it is named. */
export const ephemeral = 'ephemeral'

/**
 * The storage that `value` names; throws `location_not_found` and `invalid_directory`. By whatever path a folder is named,
 * it is one storage: a VM has one place, which tells it from others.
 */
export const storageOf = (settings: Settings, data: string, value: string): Storage => {
  if (value === ephemeral) return ephemeralStorage(data)
  if (!value.includes('/')) return findLocation(settings, value)
  const path = directoryPath(value)
  const known = allStorages(settings, data)
  const named = known.find((storage) => storage.path === path)
  if (named !== undefined) return named
  const real = realPath(path)
  return known.find((storage) => realPath(storage.path) === real) ?? { name: real, path: real }
}

const ephemeralStorage = (data: string): Storage => ({ name: ephemeral, path: join(data, ephemeral) })

/** Every location, and the ephemeral one: what a new one must differ from. */
export const allStorages = (settings: Settings, data: string): Storage[] => [
  ...locationsOf(settings),
  ephemeralStorage(data),
]

/** Where a VM is made when nobody says where. */
export const defaultStorage = (settings: Settings): Storage => findLocation(settings, settings.defaultLocationName)

/** Every location, in the order in which a name is searched: the default one first. */
export const searched = (settings: Settings): Storage[] => {
  const usual = defaultStorage(settings)
  return [usual, ...locationsOf(settings).filter(({ name }) => name !== usual.name)]
}
