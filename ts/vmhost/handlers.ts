/** The handler of each operation. */
import { getConfig, setConfig } from './handlers/config.ts'
import { makeConsoleLink } from './handlers/console.ts'
import { execInVm } from './handlers/guest.ts'
import { addLocation, listLocations, removeLocation, setDefaultLocation } from './handlers/locations.ts'
import { cancelOperation, getHostStatus, getLogs, getOperation, listOperations } from './handlers/observing.ts'
import { getVm, listVms, setupVm } from './handlers/vms.ts'
import type { Handlers } from './host.ts'
import { cloneVm } from './lifecycle/clone.ts'
import { createVm } from './lifecycle/create.ts'
import { deleteVm } from './lifecycle/delete.ts'
import { runVm } from './lifecycle/run.ts'
import { stopVm } from './lifecycle/stop.ts'
import { updateVm } from './lifecycle/update.ts'

export const handlers: Handlers = {
  listVms,
  getVm,
  createVm,
  deleteVm,
  cloneVm,
  updateVm,
  runVm,
  stopVm,
  setupVm,
  execInVm,
  getConfig,
  setConfig,
  listLocations,
  addLocation,
  removeLocation,
  setDefaultLocation,
  getLogs,
  getHostStatus,
  listOperations,
  getOperation,
  cancelOperation,
  makeConsoleLink,
}
