/** Reserving names: a record that says what is being started, and the lock of the name, before a runtime hears of it. */
import { type SandboxRecord, sandboxFormat } from '@backlot/contract/sandbox'
import { ConflictError } from '../../errors.ts'
import { settingsOf } from '../../runtimes/known.ts'
import type { Runtime } from '../../runtimes/runtime.ts'
import { thisProgram } from '../../state/owner.ts'
import type { Records } from '../../state/records.ts'
import { isImage, snapshotDict } from '../checks.ts'
import { endDueLocked, endIfDue } from '../machine/end.ts'
import type { SandboxOptions, Source } from '../options.ts'
import { limitsOf } from '../refusals.ts'
import { checkName, newName } from './name.ts'

/** Milliseconds between two looks at a name that somebody works on. */
const pollIntervalMs = 20

/** What is to be brought into being. */
export interface Plan {
  readonly runtime: Runtime
  /** What it starts from; `null` where only the runtime knows. */
  readonly source: Source | Pick<SandboxRecord, 'image' | 'snapshot'> | null
  readonly options: SandboxOptions
  readonly ephemeral: boolean
  readonly warnings?: readonly string[]
}

/** A name that nobody else can have until its lock is released. */
export interface ReservedName {
  readonly name: string
  release(): Promise<void>
}

/** Reserves the name, or one that is free; throws `sandbox_exists`, also where the runtime holds the name already. */
export const reserve = async (
  records: Records,
  plan: Plan,
  held: () => Promise<ReadonlySet<string>> = () => heldBy(plan),
): Promise<ReservedName> => {
  const { name: wanted, signal } = plan.options
  for (;;) {
    signal?.throwIfAborted()
    const name = wanted === undefined ? newName() : checkName(wanted)
    const lock = await records.tryLock(name)
    if (lock !== undefined) {
      try {
        const isFree = (await endDueLocked(records, name)) === undefined
        // Asked before there is a record: whoever finds one of a dead program ends what the runtime holds under its name.
        const isHeld = isFree && (await held()).has(name)
        if (isHeld && wanted !== undefined) throw heldByOthers(plan.runtime, name)
        if (isFree && !isHeld && (await records.reserve(await firstRecord(name, plan)))) {
          return { name, release: lock.release }
        }
      } catch (error) {
        await lock.release()
        throw error
      }
      await lock.release()
    } else if (await isBeingFreed(records, name)) continue
    if (wanted === undefined) continue
    const text = `There is a sandbox "${name}" already. Connect to it, delete it, or give another name.`
    throw new ConflictError('sandbox_exists', text, { data: { name } })
  }
}

/** Reserves as many names as asked, or none. */
export const reserveSeveral = async (records: Records, plan: Plan, count: number): Promise<ReservedName[]> => {
  const held = heldBy(plan)
  const results = await Promise.allSettled(Array.from({ length: count }, () => reserve(records, plan, () => held)))
  const reserved = results.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = results.find((each) => each.status === 'rejected')
  if (failed === undefined) return reserved
  await Promise.allSettled(
    reserved.map(async ({ name, release }) => {
      await records.remove(name)
      await release()
    }),
  )
  throw failed.reason
}

/** The names that a runtime holds, whoever started them. */
const heldBy = async ({ runtime, options }: Plan): Promise<ReadonlySet<string>> =>
  new Set((await runtime.list(limitsOf(options))).map(({ name }) => name))

/** Whether a name that somebody works on may be free soon: its sandbox is being ended, or its record comes or goes right now. */
const isBeingFreed = async (records: Records, name: string): Promise<boolean> => {
  const record = await records.read(name)
  if (record !== undefined) return (await endIfDue(records, record)) === undefined
  await new Promise((wake) => setTimeout(wake, pollIntervalMs))
  return true
}

const heldByOthers = ({ name: runtime }: Runtime, name: string): ConflictError => {
  const text = `The runtime "${runtime}" holds "${name}" already, which others started. Delete it there, or give another name.`
  return new ConflictError('sandbox_exists', text, { data: { name, runtime } })
}

const firstRecord = async (
  name: string,
  { runtime, source, options, ephemeral, warnings = [] }: Plan,
): Promise<SandboxRecord> => {
  const { cpu, memoryMb, diskGb, ttlMs, labels } = options
  const now = Date.now()
  return {
    format: sandboxFormat,
    id: crypto.randomUUID(),
    name,
    runtime: runtime.name,
    settings: settingsOf(runtime),
    status: 'provisioning',
    created_at: new Date(now).toISOString(),
    expires_at: ttlMs === undefined ? null : new Date(now + ttlMs).toISOString(),
    ephemeral,
    // Whoever finds the record knows by this whether the start is still under way.
    owner: await thisProgram(),
    ...storedSource(source),
    connection: null,
    resources: {
      ...(cpu !== undefined && { cpu }),
      ...(memoryMb !== undefined && { memory_mb: memoryMb }),
      ...(diskGb !== undefined && { disk_gb: diskGb }),
    },
    os_type: source !== null && 'osType' in source ? source.osType : null,
    isolation: runtime.features.isolation,
    labels: { ...labels },
    warnings: [...warnings],
  }
}

const storedSource = (source: Plan['source']): Pick<SandboxRecord, 'image' | 'snapshot'> => {
  if (source === null) return { image: null, snapshot: null }
  if ('image' in source && 'snapshot' in source) return { image: source.image, snapshot: source.snapshot }
  return isImage(source as Source)
    ? { image: (source as { toDict(): object }).toDict() as Record<string, unknown>, snapshot: null }
    : { image: null, snapshot: snapshotDict(source as Parameters<typeof snapshotDict>[0]) }
}
