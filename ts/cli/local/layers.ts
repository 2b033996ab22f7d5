/** `backlot local layers`, `keep-layers` and `prune`: what layers of images have made of own roots. */

import { Failure } from '@backlot/contract/failure'
import {
  bytesOf,
  findLayers,
  findSandbox,
  keepLayers,
  layersFolder,
  lockLayers,
  pruneLayers,
  recipeOf,
  sandboxesFolder,
  snapshotInfo,
  sweepRoots,
} from '@backlot/local'
import { readFlags } from '../flags.ts'
import { printJson } from '../terminal/output.ts'
import { nameOfLayers } from './layers-name.ts'
import type { LocalVerb } from './local-verb.ts'
import { startWatcher } from './snapshots.ts'
import { inputEnds, signalled } from './supervise.ts'

/**
 * `layers HASH` says whether they are kept. Where they are not, it holds them for who called, when nobody else does, and
 * until the end of standard input: who keeps some afterwards made them alone.
 */
const layers: LocalVerb = async (args) => {
  const { positionals } = readFlags('local layers', { args: [...args], allowPositionals: true, options: {} })
  const name = nameOfLayers(positionals[0] ?? '')
  if (name === null) {
    await printJson({ cached: false, name })
    return 0
  }
  const store = layersFolder()
  if ((await findLayers(store, name)) !== null) {
    await printJson({ cached: true, name })
    return 0
  }
  const gone = new AbortController()
  const ending = Promise.race([inputEnds(true), signalled(['SIGTERM', 'SIGINT', 'SIGHUP'])])
  void ending.then(() => gone.abort())
  const lock = await lockLayers(store, name, gone.signal)
  try {
    // By whoever held them meanwhile.
    const cached = (await findLayers(store, name)) !== null
    await printJson({ cached, name })
    if (!cached) await ending
  } finally {
    lock.release()
  }
  return 0
}

/** `keep-layers SANDBOX HASH` keeps what a sandbox is now as what these layers make. */
const keep: LocalVerb = async (args) => {
  const { positionals } = readFlags('local keep-layers', { args: [...args], allowPositionals: true, options: {} })
  const [sandbox = '', hash = ''] = positionals
  const folder = findSandbox(sandboxesFolder(), sandbox)
  // By the root that it has, which may no longer be the one of new sandboxes.
  const name = nameOfLayers(hash, folder.readRecord()?.root_version ?? null)
  if (name === null) throw new Failure('unsupported', 'Layers are kept for own roots alone.', { isolation: 'own-root' })
  const kept = await keepLayers(layersFolder(), folder, name, startWatcher)
  await printJson(snapshotInfo(kept))
  return 0
}

/** `prune` removes what no sandbox needs and what comes back by itself: kept layers, and roots of other versions. */
const prune: LocalVerb = async (args) => {
  readFlags('local prune', { args: [...args], options: {} })
  const base = sandboxesFolder()
  let freed = 0
  const roots = await sweepRoots(base, recipeOf().version, async (folder) => {
    freed += await bytesOf(folder)
  })
  const removed = await pruneLayers(layersFolder(), 0)
  for (const { size_bytes } of removed) freed += size_bytes
  await printJson({ freed_bytes: freed, layers: removed.length, roots })
  return 0
}

/** The verbs by their names. */
export const layersVerbs: Readonly<Record<string, LocalVerb>> = { layers, 'keep-layers': keep, prune }
