/** Reads and changes the configuration. */

import type { Handlers } from '../host/host.ts'
import type { Settings } from '../host/settings.ts'
import { parseReference } from '../images/reference.ts'
import { refuseInUse } from '../lifecycle/in-use.ts'
import { directoryPath, prepareDirectory } from '../storage/directory.ts'
import { findLocation, locationsOf, refuseTakenFolder } from '../storage/locations.ts'
import { realPath } from '../storage/real-path.ts'
import { allStorages } from '../storage/storage.ts'

export const getConfig: Handlers['getConfig'] = async (_, host) => {
  const settings = await host.settings.read()
  return {
    homeDirectory: settings.homeDirectory,
    vmLocations: locationsOf(settings),
    defaultLocationName: settings.defaultLocationName,
    cacheDirectory: settings.cacheDirectory,
    cachingEnabled: settings.cachingEnabled,
    registry: settings.registry,
    organization: settings.organization,
    ipswCatalog: settings.ipswCatalog,
  }
}

export const setConfig: Handlers['setConfig'] = async (input, host) => {
  const { homeDirectory, cacheDirectory, cachingEnabled, registry, organization, ipswCatalog } = input
  const decided: Partial<Settings> = {}
  if (registry !== undefined || organization !== undefined) {
    const { registry: usual, organization: theirs } = await host.settings.read()
    // Refuses what no image could be looked for in.
    const checked = parseReference('image', { registry: registry ?? usual, organization: organization ?? theirs })
    if (registry !== undefined) decided.registry = checked.registry
    if (organization !== undefined) decided.organization = checked.organization
  }
  if (ipswCatalog !== undefined) decided.ipswCatalog = ipswCatalog
  if (homeDirectory !== undefined) decided.homeDirectory = directoryPath(homeDirectory)
  if (cacheDirectory !== undefined) decided.cacheDirectory = directoryPath(cacheDirectory)
  if (cachingEnabled !== undefined) decided.cachingEnabled = cachingEnabled
  const names = Object.keys(decided)
  if (names.length === 0) return { message: 'Nothing to change' }
  await host.settings.change(async (settings) => {
    for (const path of [decided.homeDirectory, decided.cacheDirectory]) {
      if (path !== undefined) await prepareDirectory(path)
    }
    if (decided.homeDirectory !== undefined) {
      refuseTakenFolder(allStorages(settings, host.store.data), 'home', decided.homeDirectory)
      const home = findLocation(settings, 'home')
      if (realPath(home.path) !== realPath(decided.homeDirectory)) {
        await refuseInUse(host, home, 'set another homeDirectory')
      }
    }
    return decided
  })
  return { message: `Configuration updated: ${names.join(', ')}` }
}
