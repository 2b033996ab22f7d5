/** The native core, loaded when a VM first needs it: a service that has none stays small. */
type Core = typeof import('@backlot/native')

/** The core. */
export const core = (): Core => require('@backlot/native') as Core

/** A file that a living process holds (flock). */
export type FileLock = NonNullable<ReturnType<Core['FileLock']['take']>>
