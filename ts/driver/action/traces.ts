/** What a call turned out to act on, noted as it is found. */
import type { Call } from '../context.ts'
import type { Trace } from '../notes.ts'
import { isPassword, keepSecret } from './typing.ts'

/** Notes what is known now; what is not given stays as it was. What goes into a password field is a secret at once. */
export const noteScene = (
  call: Call,
  { window, target, point }: { readonly [Key in keyof Trace]?: Trace[Key] | undefined },
): void => {
  if (target && isPassword(target.element)) keepSecret(call, call.types ?? [])
  const { notes } = call
  notes.trace = { ...notes.trace, ...(window && { window }), ...(target && { target }), ...(point && { point }) }
}
