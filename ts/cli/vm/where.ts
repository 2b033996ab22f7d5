/** How commands of `backlot vm` that are no single operation are told which VM they are about. */
import { storage } from '@backlot/contract/vmhost/location'
import { placeNamed } from '../host/declared.ts'
import type { VmReference } from '../host/guest-stream.ts'

/** What every command takes that means one VM. */
export const where = {
  storage: {
    type: 'string',
    value: 'LOCATION|PATH',
    description: String(storage.description),
    absent: 'looked for in the default location, then in the others',
  },
} as const

/** The VM of that name, where the options say. */
export const placed = (
  name: string,
  { storage: named }: Readonly<Record<string, string | boolean | undefined>>,
): VmReference => ({ name, ...(typeof named === 'string' && { storage: placeNamed(named) }) })
