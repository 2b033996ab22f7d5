/** What a call turned out to act on, noted as it is found. */
import type { Window } from '@backlot/native'
import type { Call } from '../context.ts'
import type { SeenElement } from '../observation/elements.ts'
import { isPassword, keepSecret } from './typing.ts'

/** The scene of an action, as far as it is known. */
export interface Trace {
  readonly window?: Window
  readonly target?: SeenElement
  /** Where the pointer pressed, in window pixels. */
  readonly point?: { readonly x: number; readonly y: number }
}

const traces = new WeakMap<Call, Trace>()

/** Notes what is known now; what is not given stays as it was. What goes into a password field is a secret at once. */
export const noteScene = (
  call: Call,
  { window, target, point }: { readonly [Key in keyof Trace]?: Trace[Key] | undefined },
): void => {
  if (target && isPassword(target.element)) keepSecret(call, call.types ?? [])
  traces.set(call, {
    ...traces.get(call),
    ...(window && { window }),
    ...(target && { target }),
    ...(point && { point }),
  })
}

/** What was noted. */
export const traceOf = (call: Call): Trace => traces.get(call) ?? {}
