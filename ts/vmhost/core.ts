/** The native core, loaded when a VM first needs it: a service that has none stays small. */
type Core = typeof import('@backlot/native')

let loaded: Core | undefined

/** The core. */
export const core = (): Core => {
  if (loaded !== undefined) return loaded
  loaded = require('@backlot/native') as Core
  // It was read out of the executable, where nobody needs it any more; nothing depends on when that is given back.
  loaded.releaseExecutableData().catch(() => undefined)
  return loaded
}

/** A file that a living process holds (flock). */
export type FileLock = NonNullable<ReturnType<Core['FileLock']['take']>>
