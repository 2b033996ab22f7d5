/** What is known of the sandboxes of this machine: what was stored, and what their runtimes say now. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions, OsType } from '../../basics.ts'
import type { Isolation } from '../../runtimes/features.ts'
import { chosenFor, identityOf, isMeant, runtimeOf, runtimesHere, settingsOf } from '../../runtimes/known.ts'
import type { HeldSandbox, Runtime } from '../../runtimes/runtime.ts'
import type { Records, UnusableRecord } from '../../state/records.ts'
import type { SandboxInfo, SandboxStatus } from '../options.ts'
import { sweep } from './end.ts'

/** What a runtime holds, or why it cannot be asked. */
export type HeldSandboxes = readonly HeldSandbox[] | { readonly unknown: string }

const notKnown = (key: string): string =>
  `This program does not know the runtime "${key}" with the settings that it had; pass it as "runtime".`

/** One text for each runtime with its settings. */
const keyOf = (runtime: Runtime): string => identityOf(runtime.name, settingsOf(runtime))

/** Asks a runtime what it holds; one that is not available here is not an error, one that fails is. */
export const holdingsOf = async (
  runtime: Runtime | undefined,
  key: string,
  options: CallOptions,
): Promise<HeldSandboxes> => {
  if (runtime === undefined) return { unknown: notKnown(key) }
  const check = await runtime.check(options)
  return check.available ? runtime.list(options) : { unknown: `${check.reason} ${check.remedy}` }
}

/** The state of a sandbox now; undefined where its runtime no longer has it. */
export const statusNow = (record: SandboxRecord, holdings: HeldSandboxes): SandboxStatus | undefined => {
  if (record.status === 'provisioning' || 'unknown' in holdings) return record.status
  return holdings.find(({ name }) => name === record.name)?.status
}

/** Host and port as they stand in an address. */
const at = (host: string, port: number): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** What is known of a sandbox. */
export const infoOfRecord = (record: SandboxRecord, holdings: HeldSandboxes): SandboxInfo => {
  const status = statusNow(record, holdings)
  const { connection } = record
  const vncHost = connection?.vnc_host ?? connection?.host
  const warnings = [...record.warnings]
  const held = 'unknown' in holdings ? undefined : holdings.find(({ name }) => name === record.name)
  if (Array.isArray(held?.warnings)) warnings.push(...held.warnings.map(String))
  if ('unknown' in holdings) warnings.push(`What it does now is not known. ${holdings.unknown}`)
  if (status === undefined) warnings.push('Its runtime no longer has it. Delete it, and create it again.')
  return {
    name: record.name,
    status: status ?? 'stopped',
    source: record.runtime,
    osType: record.os_type as OsType | null,
    host: connection?.host ?? null,
    vncUrl: connection?.vnc_port === undefined ? null : `vnc://${at(String(vncHost), connection.vnc_port)}`,
    apiUrl: connection === null ? null : `http://${at(connection.host, connection.api_port)}`,
    createdAt: record.created_at,
    expiresAt: record.expires_at,
    ephemeral: record.ephemeral,
    isolation: (held?.isolation ?? record.isolation) as Isolation | null,
    labels: record.labels,
    warnings,
  }
}

const nothing = {
  osType: null,
  host: null,
  vncUrl: null,
  apiUrl: null,
  createdAt: null,
  expiresAt: null,
  ephemeral: false,
  isolation: null,
  labels: {},
} as const

/** What is known of a sandbox that a runtime holds and that was not started by this package. */
const infoOfOther = ({ name, status, isolation }: HeldSandbox, runtime: Runtime): SandboxInfo => ({
  ...nothing,
  name,
  status,
  source: runtime.name,
  isolation: (isolation ?? runtime.features.isolation) as Isolation,
  warnings: [],
})

/** What is known of a sandbox whose state file cannot be used. */
const infoOfUnusable = ({ name, error }: UnusableRecord): SandboxInfo => ({
  ...nothing,
  name,
  status: 'stopped',
  source: 'unknown',
  warnings: [error.message],
})

/** The sandboxes of one runtime, or of all of this machine, newest first; what should have ended is ended before. */
export const listMachine = async (
  records: Records,
  chosen: Runtime | undefined,
  options: CallOptions,
): Promise<SandboxInfo[]> => {
  const { records: kept, unusable } = await sweep(records)
  const mine = chosen === undefined ? kept : kept.filter((record) => isMeant(chosen, record))
  const asked = new Map<string, Runtime>(
    (chosen === undefined ? runtimesHere() : [chosen]).map((runtime) => [keyOf(runtime), runtime]),
  )
  const holders = mine.map((record) => {
    const runtime = chosen === undefined ? runtimeOf(record) : chosenFor(chosen, record)
    const key = runtime && keyOf(runtime)
    if (runtime !== undefined && key !== undefined && !asked.has(key)) asked.set(key, runtime)
    return { record, key }
  })
  const holdings = new Map(
    await Promise.all(
      [...asked].map(async ([key, runtime]) => [key, await holdingsOf(runtime, runtime.name, options)] as const),
    ),
  )
  const unknown = ({ runtime }: SandboxRecord) => ({ unknown: notKnown(runtime) })
  const infos = holders.map(({ record, key }) =>
    infoOfRecord(record, (key === undefined ? undefined : holdings.get(key)) ?? unknown(record)),
  )
  const names = new Set([...kept.map(({ name }) => name), ...unusable.map(({ name }) => name)])
  for (const [key, held] of holdings) {
    const runtime = asked.get(key)
    if (runtime === undefined || 'unknown' in held) continue
    infos.push(...held.filter(({ name }) => !names.has(name)).map((each) => infoOfOther(each, runtime)))
  }
  infos.push(...unusable.map(infoOfUnusable))
  return infos.sort(newestFirst)
}

/** Those whose beginning is not known stand last, by name. */
export const newestFirst = (a: SandboxInfo, b: SandboxInfo): number =>
  (b.createdAt ?? '').localeCompare(a.createdAt ?? '') || a.name.localeCompare(b.name)
