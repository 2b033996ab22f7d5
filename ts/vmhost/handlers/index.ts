/** The handler of each operation. */

import type { Handlers } from '../host/host.ts'
import { importImage } from '../images/importing/import-image.ts'
import { pullImage, startPull } from '../images/pull-vm.ts'
import { pushVm } from '../images/push-vm.ts'
import { cloneVm } from '../lifecycle/clone.ts'
import { createVm } from '../lifecycle/create.ts'
import { deleteVm } from '../lifecycle/delete.ts'
import { forkVm } from '../lifecycle/fork.ts'
import { runVm } from '../lifecycle/run.ts'
import { deleteSnapshot, listSnapshots, restoreSnapshot, takeSnapshot } from '../lifecycle/snapshot.ts'
import { stopVm } from '../lifecycle/stop.ts'
import { resumeVm, suspendVm } from '../lifecycle/suspend.ts'
import { updateVm } from '../lifecycle/update.ts'
import { poolVm } from '../pools/manage.ts'
import { deleteTemplate, listTemplates } from '../templates/manage.ts'
import { getConfig, setConfig } from './config.ts'
import { makeConsoleLink } from './console.ts'
import { execInVm, listInterfaces } from './guest.ts'
import { getIpsw, listImages, pruneImages } from './images.ts'
import { addLocation, listLocations, removeLocation, setDefaultLocation } from './locations.ts'
import { cancelOperation, getHostStatus, getLogs, getOperation, listOperations } from './observing.ts'
import { getVm, listVms, setupVm } from './vms.ts'

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
  listInterfaces,
  execInVm,
  listImages,
  getIpsw,
  pullImage,
  startPull,
  pushVm,
  importImage,
  pruneImages,
  suspendVm,
  resumeVm,
  takeSnapshot,
  listSnapshots,
  restoreSnapshot,
  deleteSnapshot,
  forkVm,
  poolVm,
  listTemplates,
  deleteTemplate,
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
