/** What runtimes say that they can do. */
import type { ImageKind, OsType } from '../basics.ts'

/** What parts a sandbox from its host, strongest first. */
export type Isolation = 'vm' | 'container' | 'own-root' | 'host-programs' | 'landlock' | 'none'

/** Virtual CPUs, mebibytes and gibibytes, the runtime's own unless given; one that it cannot give throws `unsupported`. */
export interface Resources {
  cpu?: number
  memoryMb?: number
  diskGb?: number
}

/** How a runtime does a thing, or in a sentence why it does not. */
export type Ability<How = true> = How | { readonly unsupported: string }

/** What a runtime can do where it has all it needs. */
export interface RuntimeFeatures {
  readonly os: readonly OsType[]
  readonly kinds: readonly ImageKind[]
  readonly isolation: Isolation
  /** Programs continue, also after the host's restart (`memory`) or only until then (`frozen`), or start anew (`disk`). */
  readonly suspend: Ability<'memory' | 'frozen' | 'disk'>
  readonly fork: Ability<'memory' | 'disk'>
  readonly snapshot: Ability<'memory' | 'disk'>
  readonly pool: Ability
  readonly display: Ability
  readonly tunnel: Ability
  readonly mounts: Ability
  readonly network: Ability<readonly ('none' | 'loopback' | 'internet' | 'allow')[]>
  readonly resources: Ability<readonly (keyof Resources)[]>
}

/** What a runtime can do on this machine. */
export type RuntimeCheck =
  | { readonly available: true; readonly features: RuntimeFeatures }
  | { readonly available: false; readonly reason: string; readonly remedy: string }

/** Why an ability is not there; undefined where it is. */
export const reasonAgainst = (ability: Ability<unknown>): string | undefined =>
  typeof ability === 'object' && ability !== null && 'unsupported' in ability ? String(ability.unsupported) : undefined
