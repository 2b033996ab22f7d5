/** The operations of the VM host over HTTP. */
import { configOperations } from './vmhost/config.ts'
import { consoleOperations } from './vmhost/console.ts'

/** The operations that answer, in the order of the specification. */
export const vmHost = { ...configOperations, ...consoleOperations } as const
