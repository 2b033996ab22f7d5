/** Why a sandbox of this machine cannot be used as asked. */
import type { SandboxRecord } from '@backlot/contract/sandbox'
import type { CallOptions } from '../basics.ts'
import { ConflictError, invalidArgument, NotFoundError, UnavailableError, UnsupportedError } from '../errors.ts'
import { type Ability, type Resources, reasonAgainst } from '../runtimes/features.ts'
import type { Runtime } from '../runtimes/runtime.ts'
import { sizes } from './checks.ts'

/** The limits of a call alone. */
export const limitsOf = ({ signal, timeoutMs }: CallOptions): CallOptions => ({
  ...(signal !== undefined && { signal }),
  ...(timeoutMs !== undefined && { timeoutMs }),
})

/** Throws `unsupported` with the reason that a runtime declares. */
export const refuseUnable = (runtime: Runtime, ability: Ability<unknown>): void => {
  const reason = reasonAgainst(ability)
  if (reason !== undefined) throw new UnsupportedError(reason, { data: { runtime: runtime.name } })
}

/** Throws `unsupported` where programs shall go on and the runtime copies disks alone. */
export const refuseDiskOnly = (runtime: Runtime, verb: 'fork' | 'snapshot', memory: boolean | undefined): void => {
  refuseUnable(runtime, runtime.features[verb])
  if (memory === false || runtime.features[verb] !== 'disk') return
  const text = `The runtime "${runtime.name}" copies disks, not running programs. Call \`${verb}\` with { memory: false }.`
  throw new UnsupportedError(text, { data: { runtime: runtime.name } })
}

export const unknownRuntime = ({ name, runtime }: SandboxRecord): UnavailableError =>
  new UnavailableError(
    'runtime_unavailable',
    `The sandbox "${name}" was started by the runtime "${runtime}", which this program does not know with the settings that it had. Pass it as "runtime".`,
    { data: { name, runtime } },
  )

/** What stands against using a sandbox in that state; `undefined`: its runtime no longer has it. */
export const notRunning = (name: string, status: string | undefined): ConflictError => {
  if (status === 'provisioning') {
    const text = `The sandbox "${name}" is being started by another program. Try again when that has ended.`
    return new ConflictError('sandbox_busy', text, { data: { name }, retryable: true })
  }
  const next =
    status === 'suspended'
      ? `Continue it with \`Sandbox.resume("${name}")\`.`
      : 'Its runtime has it no longer: delete it, and create it again.'
  const text = `The sandbox "${name}" is not running: it is ${status ?? 'gone'}. ${next}`
  return new ConflictError('sandbox_not_running', text, { data: { name, status: status ?? 'stopped' } })
}

/** Throws `invalid_argument` where a size differs from the sandbox's, or nobody knows it. */
export const compareSizes = (record: SandboxRecord, options: Resources): void => {
  const { cpu, memory_mb: memoryMb, disk_gb: diskGb } = record.resources
  const has = { cpu, memoryMb, diskGb }
  for (const size of sizes) {
    const asked = options[size]
    if (asked === undefined || asked === has[size]) continue
    const is = has[size] === undefined ? "is its runtime's own" : `is ${has[size]}`
    const text = `"${size}" of the sandbox "${record.name}" ${is}, not ${asked}: connecting changes no size. Leave it out.`
    throw invalidArgument(size, text)
  }
}

/** No cloud has a sandbox of that name. */
export const notInCloud = (name: string): NotFoundError =>
  new NotFoundError(
    'sandbox_not_found',
    `This machine has no sandbox "${name}", and no cloud is configured. \`Sandbox.list({ local: true })\` names those there are.`,
    { data: { name } },
  )
