/** Storage locations: named folders that hold VMs. */
import { realpath } from 'node:fs/promises'
import { Failure } from '@backlot/contract/failure'
import type { Location } from '@backlot/contract/vmhost/location'
import type { Settings } from './settings.ts'

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
export const refuseTakenFolder = async (locations: readonly Location[], name: string, path: string): Promise<void> => {
  const wanted = await realPath(path)
  for (const other of locations) {
    if (other.name === name || (await realPath(other.path)) !== wanted) continue
    throw new Failure(
      'location_exists',
      `The folder "${path}" is that of the storage location "${other.name}" already; name another folder.`,
      { name: other.name, path },
    )
  }
}

/** The path without symbolic links; a folder that is not there has none. */
const realPath = (path: string): Promise<string> => realpath(path).catch(() => path)
