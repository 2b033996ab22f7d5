/** What handlers work with, and what a handler is. */
import type { Input, Result } from '@backlot/contract/endpoint'
import type { vmHost } from '@backlot/contract/vmhost'
import type { SettingsFile } from './settings.ts'

/** The host that a service stands for. */
export interface Host {
  readonly settings: SettingsFile
  /** An address of the console that one browser may open; undefined where no browser reaches it. */
  newLink(): string | undefined
}

type VmHost = typeof vmHost

/** One function for each operation: gives the result or throws a `Failure`. */
export type Handlers = {
  readonly [Name in keyof VmHost]: (input: Input<VmHost[Name]>, host: Host) => Promise<Result<VmHost[Name]>>
}
