/** The moment in which a sandbox that waits in a pool becomes somebody's. */
import { Failure } from '@backlot/contract/failure'
import type { FileLock } from '@backlot/native'
import { infoOf, type SandboxInfo } from '../info.ts'
import { nameInside } from '../making.ts'
import { isAlive, isFrozen } from '../processes.ts'
import { SandboxFolder } from '../state/folder.ts'
import { lock } from '../state/locking.ts'
import { sandboxName } from '../state/name.ts'
import { type SandboxRecord, writeRecord } from '../state/record.ts'

/** What somebody wants to call it. */
export interface Claim {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly ttlMs: number | null
}

/** A sandbox that has its new name; until `keep` it ends with this process. */
export interface ClaimedSandbox {
  readonly info: SandboxInfo
  /** Makes it stay; gives what it is from now on. */
  keep(): SandboxRecord
  /** Lets others change it. */
  release(): void
}

/** Whether a sandbox can be given to somebody: its programs run, and its computer server answers in time. */
export const isWell = async (folder: SandboxFolder, key: string): Promise<boolean> => {
  const run = folder.readRun()
  if (run?.init == null || !isAlive(run.init) || isFrozen(run.init)) return false
  try {
    const answer = await fetch(`http://127.0.0.1:${run.port}/cmd`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify({ command: 'get_screen_size' }),
      signal: AbortSignal.timeout(wellMs),
    })
    return answer.ok && (await answer.text()).includes('"success":true')
  } catch {
    return false
  }
}

/** Milliseconds in which the server of a sandbox that is well answers, also on a busy machine. */
const wellMs = 2_000

/**
 * Gives the sandbox of this process another name. Throws `sandbox_exists` or `sandbox_busy` where it cannot have that one,
 * and `sandbox_not_found` where others are deleting it.
 */
export const handOut = async (folder: SandboxFolder, key: string, claim: Claim): Promise<ClaimedSandbox> => {
  const target = new SandboxFolder(folder.base, sandboxName(claim.name))
  const held: FileLock[] = []
  const release = () => {
    for (const each of held.splice(0)) each.release()
  }
  try {
    for (const each of [folder, target]) held.push(await lock(each))
    const [record, run] = [folder.readRecord(), folder.readRun()]
    if (record === null || run === null) throw new Failure('sandbox_not_found', `"${folder.name}" is being deleted.`)
    if (target.exists) {
      throw new Failure('sandbox_exists', `There is a sandbox "${target.name}" already; take another name.`, {
        name: target.name,
      })
    }
    folder.rename(target.name)
    const now = Date.now()
    const renamed: SandboxRecord = {
      ...record,
      name: target.name,
      labels: { ...record.labels, ...claim.labels },
      created_at: new Date(now).toISOString(),
      expires_at: claim.ttlMs === null ? null : new Date(now + claim.ttlMs).toISOString(),
    }
    nameInside(folder, target.name, record.name)
    // Still as one that ends with this process: who claimed it may have died.
    writeRecord(folder.record, renamed)
    const kept = { ...renamed, ephemeral: false }
    return {
      info: infoOf(kept, run, key),
      keep() {
        writeRecord(folder.record, kept)
        return kept
      },
      release,
    }
  } catch (error) {
    release()
    throw error
  }
}
