/** The operations of the VM host over HTTP. */
import { configOperations } from './vmhost/config.ts'
import { consoleOperations } from './vmhost/console.ts'
import { guestOperations } from './vmhost/guest.ts'
import { lifecycleOperations } from './vmhost/lifecycle.ts'
import { observingOperations } from './vmhost/observing.ts'

/** The operations that answer, in the order of the specification. */
export const vmHost = {
  ...lifecycleOperations,
  ...guestOperations,
  ...configOperations,
  ...observingOperations,
  ...consoleOperations,
} as const
