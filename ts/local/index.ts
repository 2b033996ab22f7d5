/** The far side of the `local` runtime: private desktops in namespaces of this Linux. */

export type { SandboxInfo, SandboxState } from './info.ts'
export type { Confinement } from './isolation/landlock.ts'
export { type IsolationLevel, type LevelName, levelNames } from './isolation/level.ts'
export { findLevels } from './isolation/levels.ts'
export { networksHere } from './network/network.ts'
export { asOwner, withAllIds } from './own-root/all-ids.ts'
export { type BuiltRoot, buildRoot } from './own-root/build.ts'
export { idsHere } from './own-root/ids.ts'
export { recipeOf } from './own-root/recipe.ts'
export { sessionFiles, sessionFolder } from './own-root/recipe-files.ts'
export { sweepRoots } from './own-root/roots.ts'
export { type Claim, type ClaimedSandbox, handOut, isWell } from './pools/handing-out.ts'
export { type PoolSize, sizeByMemory } from './pools/memory.ts'
export {
  findPool,
  forgetPool,
  listPools,
  type PoolInfo,
  type PoolRecord,
  poolNotFound,
  poolsFolder,
  tryOwnPool,
  writePoolRecord,
} from './pools/store.ts'
export {
  continueSandbox,
  createSandbox,
  deleteSandbox,
  findSandbox,
  isolationOfPool,
  listSandboxes,
  type MadeSandbox,
  markWhole,
  type NewSandbox,
  restoreSandbox,
  rootFor,
  sandboxStateOf,
  stopSandbox,
  suspendSandbox,
} from './sandboxes.ts'
export { bytesOf } from './snapshots/copying.ts'
export type { StartWatcher } from './snapshots/halting.ts'
export {
  findLayers,
  keepLayers,
  layersFolder,
  layersName,
  lockLayers,
  pruneLayers,
} from './snapshots/layers.ts'
export { takeFiles, takeSnapshot } from './snapshots/snapshots.ts'
export {
  deleteSnapshot,
  type FilesSource,
  filesOf,
  findSnapshot,
  listSnapshots,
  type SnapshotInfo,
  type SnapshotRecord,
  snapshotInfo,
  snapshotsFolder,
  sweepSnapshots,
} from './snapshots/store.ts'
export { SandboxFolder, sandboxesFolder } from './state/folder.ts'
export { locked, tryLock } from './state/locking.ts'
export { newName, sandboxName } from './state/name.ts'
export type { Mount, Network, SandboxRecord } from './state/record.ts'
export { type Executable, type RunningSandbox, startSandbox } from './supervisor.ts'
export { sweep } from './sweeping.ts'
