/** Lists, adds and removes storage locations, and chooses the default one. */
import { Failure } from '@backlot/contract/failure'
import { dependent } from '../disks/bases.ts'
import type { Handlers } from '../host/host.ts'
import { refuseInUse } from '../lifecycle/in-use.ts'
import { directoryPath, prepareDirectory } from '../storage/directory.ts'
import { findLocation, locationsOf, refuseTakenFolder } from '../storage/locations.ts'
import { allStorages } from '../storage/storage.ts'

export const listLocations: Handlers['listLocations'] = async (_, host) => locationsOf(await host.settings.read())

export const addLocation: Handlers['addLocation'] = async ({ name, path: named }, host) => {
  const path = directoryPath(named)
  await host.settings.change(async (settings) => {
    const taken = allStorages(settings, host.store.data)
    if (taken.some((location) => location.name === name)) {
      throw new Failure('location_exists', `Storage location already exists: "${name}". Choose another name.`, { name })
    }
    await prepareDirectory(path)
    refuseTakenFolder(taken, name, path)
    return { locations: [...settings.locations, { name, path }] }
  })
  return { message: `Location added: ${name}`, name, path }
}

export const removeLocation: Handlers['removeLocation'] = async ({ name }, host) => {
  await host.settings.change(async (settings) => {
    const location = findLocation(settings, name)
    if (name === settings.defaultLocationName) {
      throw new Failure(
        'location_not_removable',
        `Cannot remove the default location '${name}'. Set a new default location first.`,
        { name },
      )
    }
    if (name === 'home') {
      throw new Failure(
        'location_not_removable',
        "Cannot remove the location 'home': it is the home directory. Set another homeDirectory instead.",
        { name },
      )
    }
    await refuseInUse(host, location, `remove the location '${name}'`)
    const others = locationsOf(settings).filter((each) => each.name !== name)
    const disk = await dependent(location, others)
    if (disk !== undefined) {
      throw new Failure(
        'location_in_use',
        `Cannot remove the location '${name}': the disk "${disk}" lies on a file in it. Delete or move that VM first.`,
        { name, disk },
      )
    }
    return { locations: settings.locations.filter((location) => location.name !== name) }
  })
  return { message: `Location removed: ${name}` }
}

export const setDefaultLocation: Handlers['setDefaultLocation'] = async ({ name }, host) => {
  await host.settings.change((settings) => {
    findLocation(settings, name)
    return { defaultLocationName: name }
  })
  return { message: `Default location: ${name}` }
}
