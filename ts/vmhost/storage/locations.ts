/** Storage locations: named folders that hold VMs. */
import { Failure } from '@backlot/contract/failure'
import type { Location } from '@backlot/contract/vmhost/location'
import type { Settings } from '../host/settings.ts'
import { realPath } from './real-path.ts'

/** Every location, sorted by name; the home directory is the one called `home`. */
export const locationsOf = (settings: Settings): Location[] =>
  [{ name: 'home', path: settings.homeDirectory }, ...settings.locations].sort((a, b) => (a.name < b.name ? -1 : 1))

/** The location of that name; throws `location_not_found`. */
export const findLocation = (settings: Settings, name: string): Location => {
  const locations = locationsOf(settings)
  const found = locations.find((location) => location.name === name)
  if (found !== undefined) return found
  throw new Failure(
    'location_not_found',
    `Location not found: "${name}". There is ${locations.map((location) => `"${location.name}"`).join(', ')}.`,
    { name },
  )
}

/** Throws `location_exists` where another of the locations than `name` keeps its VMs in the folder `path`, by whatever path. */
export const refuseTakenFolder = (locations: readonly Location[], name: string, path: string): void => {
  const wanted = realPath(path)
  for (const other of locations) {
    if (other.name === name || realPath(other.path) !== wanted) continue
    throw new Failure(
      'location_exists',
      `The folder "${path}" is that of the storage location "${other.name}" already; name another folder.`,
      { name: other.name, path },
    )
  }
}
