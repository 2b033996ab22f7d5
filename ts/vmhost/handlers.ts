/** The handler of each operation. */
import { getConfig, setConfig } from './handlers/config.ts'
import { makeConsoleLink } from './handlers/console.ts'
import { addLocation, listLocations, removeLocation, setDefaultLocation } from './handlers/locations.ts'
import type { Handlers } from './host.ts'

export const handlers: Handlers = {
  getConfig,
  setConfig,
  listLocations,
  addLocation,
  removeLocation,
  setDefaultLocation,
  makeConsoleLink,
}
