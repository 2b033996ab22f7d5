/** What guests run on here, for who asks without a service: `backlot doctor`. */
import { join } from 'node:path'
import type { Directories } from '@backlot/contract/places'
import { type Acceleration, findAcceleration } from './hypervisors/qemu/accelerator.ts'

/** As `findAcceleration`, with the answer kept in the cache folder. */
export const accelerationAt = (places: Directories): Promise<Acceleration> =>
  findAcceleration({ cache: join(places.cache, 'accelerator.json') })
