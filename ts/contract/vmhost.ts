/** The operations of the VM host over HTTP. */
import { configOperations } from './vmhost/config.ts'
import { consoleOperations } from './vmhost/console.ts'
import { forkOperations } from './vmhost/fork.ts'
import { guestOperations } from './vmhost/guest.ts'
import { imageOperations } from './vmhost/images.ts'
import { lifecycleOperations } from './vmhost/lifecycle.ts'
import { observingOperations } from './vmhost/observing.ts'
import { snapshotOperations } from './vmhost/snapshot.ts'
import { suspendOperations } from './vmhost/suspend.ts'
import { templateOperations } from './vmhost/template.ts'

/** The operations that answer, in the order of the specification. */
export const vmHost = {
  ...lifecycleOperations,
  ...guestOperations,
  ...imageOperations,
  ...suspendOperations,
  ...snapshotOperations,
  ...forkOperations,
  ...templateOperations,
  ...configOperations,
  ...observingOperations,
  ...consoleOperations,
} as const
