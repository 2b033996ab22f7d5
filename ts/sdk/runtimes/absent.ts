/** A runtime that cannot be used here: it says what it can do elsewhere, why not here, and the way out. */
import { UnavailableError } from '../errors.ts'
import type { RuntimeCheck, RuntimeFeatures } from './features.ts'
import { Runtime } from './runtime.ts'

/** What is said of it. */
export interface AbsentRow {
  readonly features: RuntimeFeatures
  readonly reason: string
  readonly remedy: string
}

/** Refuses every verb with `runtime_unavailable`. */
export class AbsentRuntime extends Runtime {
  readonly features: RuntimeFeatures

  constructor(
    readonly name: string,
    readonly row: AbsentRow,
  ) {
    super()
    this.features = row.features
  }

  override async check(): Promise<RuntimeCheck> {
    return { available: false, reason: this.row.reason, remedy: this.row.remedy }
  }

  async start(): Promise<never> {
    throw unavailable(this.name, this.row)
  }

  async stop(): Promise<never> {
    throw unavailable(this.name, this.row)
  }

  async isReady(): Promise<never> {
    throw unavailable(this.name, this.row)
  }

  async suspend(): Promise<never> {
    throw unavailable(this.name, this.row)
  }

  async resume(): Promise<never> {
    throw unavailable(this.name, this.row)
  }

  async list(): Promise<never> {
    throw unavailable(this.name, this.row)
  }

  override logs(): never {
    throw unavailable(this.name, this.row)
  }
}

/** Why a runtime cannot be used, and what helps. */
export const unavailable = (name: string, { reason, remedy }: { reason: string; remedy: string }): UnavailableError =>
  new UnavailableError('runtime_unavailable', `The runtime "${name}" is not available: ${reason} ${remedy}`, {
    data: { runtime: name, reason, remedy },
  })
