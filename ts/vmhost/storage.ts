/** Which folder of VMs a request means. */
import { join } from 'node:path'
import type { Location } from '@backlot/contract/vmhost/location'
import { directoryPath } from './directory.ts'
import { findLocation, locationsOf } from './locations.ts'
import type { Settings } from './settings.ts'

/** A location by its name, or a folder that is none by its path. */
export type Storage = Location

/** The location whose VMs are listed only when it is named. */
export const ephemeral = 'ephemeral'

/** The storage that `value` names; throws `location_not_found` and `invalid_directory`. */
export const storageOf = (settings: Settings, data: string, value: string): Storage => {
  if (value === ephemeral) return { name: ephemeral, path: join(data, ephemeral) }
  if (!value.includes('/')) return findLocation(settings, value)
  const path = directoryPath(value)
  return locationsOf(settings).find((location) => location.path === path) ?? { name: path, path }
}

/** Every location, and the ephemeral one: what a new one must differ from. */
export const allStorages = (settings: Settings, data: string): Storage[] => [
  ...locationsOf(settings),
  storageOf(settings, data, ephemeral),
]

/** Where a VM is made when nobody says where. */
export const defaultStorage = (settings: Settings): Storage => findLocation(settings, settings.defaultLocationName)

/** Every location, in the order in which a name is searched: the default one first. */
export const searched = (settings: Settings): Storage[] => {
  const usual = defaultStorage(settings)
  return [usual, ...locationsOf(settings).filter(({ name }) => name !== usual.name)]
}
