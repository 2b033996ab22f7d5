/** How a sandbox is reached, as it is stored: in snake_case, its keys and passwords apart. */
import { SandboxConnection, SandboxKeys } from '@backlot/contract/sandbox'
import type { RuntimeInfo } from '../runtimes/runtime-info.ts'

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const pick = (names: readonly string[], info: object): Readonly<Record<string, unknown>> => {
  const fields = info as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    names.map((name) => [name, fields[camel(name)]]).filter(([, value]) => value !== undefined && value !== null),
  )
}

/** What is stored of a runtime's info. */
export const storedOf = (info: RuntimeInfo): { connection: SandboxConnection; keys: SandboxKeys } => ({
  connection: pick(Object.keys(SandboxConnection.properties), info) as unknown as SandboxConnection,
  keys: pick(Object.keys(SandboxKeys.properties), info) as SandboxKeys,
})

/** The runtime's info that was stored. */
export const infoOf = (connection: SandboxConnection, keys: SandboxKeys): RuntimeInfo =>
  Object.fromEntries(
    Object.entries({ ...connection, ...keys }).map(([name, value]) => [camel(name), value]),
  ) as unknown as RuntimeInfo
