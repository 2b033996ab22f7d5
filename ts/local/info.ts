/** What others are told of a sandbox. */
import { areSamePids, isAlive, isElsewhere, isFrozen } from './processes.ts'
import type { RunRecord, SandboxRecord } from './state/record.ts'

/** `provisioning` while it is started for the first time; `stopped`: its files are there, and no program runs. */
export type SandboxStatus = 'running' | 'suspended' | 'stopped' | 'provisioning'

/** What is known of a sandbox; spelled as on the wire. */
export interface SandboxState extends Omit<SandboxRecord, 'is_whole' | 'env' | 'origin'> {
  readonly status: SandboxStatus
  readonly source: 'local'
  readonly os_type: 'linux'
  readonly host: '127.0.0.1' | null
  readonly api_url: string | null
}

/** How to reach a sandbox that runs. */
export interface SandboxInfo extends SandboxState {
  readonly api_port: number
  readonly api_key: string
  readonly environment: 'linux'
  readonly guest_server_port: 8000
}

/** The state of a sandbox, told by its processes. */
export const statusOf = (record: SandboxRecord, run: RunRecord | null): SandboxStatus => {
  if (run !== null && isElsewhere(run)) return record.is_whole ? 'running' : 'provisioning'
  const isHere = run !== null && areSamePids(run)
  if (!record.is_whole) return 'provisioning'
  if (!isHere || run.init === null || !isAlive(run.init)) return 'stopped'
  return isFrozen(run.init) && run.is_copied !== true ? 'suspended' : 'running'
}

/** What is known of it, without its key. */
export const stateOf = (record: SandboxRecord, run: RunRecord | null): SandboxState => {
  const { is_whole: _, env: __, origin: ___, ...known } = record
  const status = statusOf(record, run)
  const isReached = run !== null && (status === 'running' || status === 'suspended')
  return {
    ...known,
    status,
    source: 'local',
    os_type: 'linux',
    host: isReached ? '127.0.0.1' : null,
    api_url: isReached ? `http://127.0.0.1:${run.port}` : null,
  }
}

/** How to reach it, just after its start or while it runs. */
export const infoOf = (record: SandboxRecord, run: RunRecord, key: string): SandboxInfo => ({
  ...stateOf({ ...record, is_whole: true }, run),
  api_port: run.port,
  api_key: key,
  environment: 'linux',
  guest_server_port: 8000,
})
