/** Reads and changes the configuration. */
import { directoryPath, prepareDirectory } from '../directory.ts'
import type { Handlers } from '../host.ts'
import { refuseInUse } from '../lifecycle/in-use.ts'
import { findLocation, locationsOf, realPath, refuseTakenFolder } from '../locations.ts'
import type { Settings } from '../settings.ts'
import { allStorages } from '../storage.ts'

export const getConfig: Handlers['getConfig'] = async (_, host) => {
  const settings = await host.settings.read()
  return {
    homeDirectory: settings.homeDirectory,
    vmLocations: locationsOf(settings),
    defaultLocationName: settings.defaultLocationName,
    cacheDirectory: settings.cacheDirectory,
    cachingEnabled: settings.cachingEnabled,
  }
}

export const setConfig: Handlers['setConfig'] = async ({ homeDirectory, cacheDirectory, cachingEnabled }, host) => {
  const decided: Partial<Settings> = {}
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
