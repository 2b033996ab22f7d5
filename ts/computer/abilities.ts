/** What works on a computer, found out by trying. */
import { type CommandName, computer } from '@backlot/contract/computer'
import { type Feature, features } from '@backlot/contract/computer/command'
import type { Backend } from './backend.ts'
import type { Phase, Replaceable } from './replaceable.ts'

/** What a server tells about its computer. */
export interface Abilities {
  readonly osType: 'linux' | 'android'
  readonly phase: Phase
  /** Why it cannot be used yet, or no more. */
  readonly reason: string | undefined
  /** Percent of the way to a computer that can be used, where that is known. */
  readonly percent: number | undefined
  /** What works. */
  readonly features: readonly Feature[]
  /** Why the others do not. */
  readonly unavailable: Readonly<Partial<Record<Feature, string>>>
  /** The commands of this kind of computer. */
  readonly names: ReadonlySet<string>
}

/** What works: true, or why not. */
type Tried = Readonly<Partial<Record<Feature, true | string>>>

/** Milliseconds for which what was found out is told again. */
const freshMs = 2_000

/** Finds out what works, at most once in a while. */
export class AbilityProbe {
  #found: Promise<Abilities> | undefined
  #of: Backend | undefined
  #at = 0

  constructor(
    private readonly osType: 'linux' | 'android',
    private readonly backend: Replaceable<Backend>,
    /** What others than the backend bring. */
    private readonly more: (tried: Tried) => Tried,
    private readonly percent?: () => number,
  ) {}

  /** What works now; a computer that still starts is not waited for. */
  async now(): Promise<Abilities> {
    const { phase } = this.backend
    if (phase !== 'ready') return this.#abilities(phase, {})
    const backend = await this.backend.get()
    if (this.#found === undefined || this.#of !== backend || performance.now() - this.#at > freshMs) {
      this.#at = performance.now()
      this.#of = backend
      this.#found = backend.probe().then((tried) => this.#abilities('ready', tried))
    }
    const found = await this.#found
    // What was tried may have ended meanwhile.
    return this.backend.phase === 'ready' ? found : this.#abilities(this.backend.phase, {})
  }

  #abilities(phase: Phase, tried: Tried): Abilities {
    const all = { ...tried, ...this.more(tried) }
    const works = (feature: Feature) => phase === 'ready' && all[feature] === true
    const why = (feature: Feature): string => {
      if (phase === 'starting') return this.backend.why ?? 'the computer still starts'
      if (phase === 'failed') return this.backend.why ?? 'the computer could not be started'
      const tried = all[feature]
      return typeof tried === 'string' ? tried : `there is none on ${this.osType}`
    }
    return {
      osType: this.osType,
      phase,
      reason: phase === 'ready' ? undefined : this.backend.why,
      percent: phase === 'ready' ? undefined : this.percent?.(),
      features: features.filter(works),
      unavailable: Object.fromEntries(features.filter((each) => !works(each)).map((each) => [each, why(each)])),
      names: new Set(namesOn(this.osType)),
    }
  }
}

const namesOn = (osType: 'linux' | 'android'): CommandName[] =>
  (Object.keys(computer) as CommandName[]).filter((name) => {
    const { only } = computer[name] as { only?: 'desktop' | 'android' }
    return only === undefined || only === (osType === 'android' ? 'android' : 'desktop')
  })
