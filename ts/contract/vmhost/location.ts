/** Where VMs are kept: named folders, and what a request says about them. */
import { type Static, Type } from '@sinclair/typebox'

/** What a storage location may be called. */
export const locationName = Type.String({
  pattern: '^[A-Za-z0-9_-]+$',
  maxLength: 255,
  description: 'Name of the location: letters, digits, `_` and `-`.',
})

/** A folder that holds VMs. */
export const Location = Type.Object({
  name: locationName,
  path: Type.String({ description: 'Absolute path of the folder.' }),
})
export type Location = Static<typeof Location>

/** Which storage an operation means. */
export const storage = Type.String({
  minLength: 1,
  maxLength: 4096,
  description:
    'A location by name, a folder by its absolute path, or `ephemeral`, a location whose VMs no list shows unasked ' +
    'and the service removes at its next start if they do not run.',
})

/** What was done, in a sentence for people. */
export const Done = Type.Object({ message: Type.String({ description: 'What was done, for people.' }) })
