/** The operations of the VM host over HTTP. */
import { configOperations } from './vmhost/config.ts'

/** The operations that answer, in the order of the specification. */
export const vmHost = { ...configOperations } as const
