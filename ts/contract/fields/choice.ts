/** A string out of a closed list: prints as a plain JSON Schema `enum`, and TypeBox checks it. */
import { Kind, type TUnsafe, Type, TypeRegistry } from '@sinclair/typebox'

const kind = 'Backlot:Choice'

TypeRegistry.Set<{ enum: readonly string[] }>(
  kind,
  (schema, value) => typeof value === 'string' && schema.enum.includes(value),
)

/** The schema of one of `values`; `options` are further JSON Schema keywords. */
export const choice = <const Value extends string>(
  values: readonly Value[],
  options: {
    readonly description?: string
    readonly more?: string
    readonly default?: Value
    readonly extension?: boolean
  } = {},
): TUnsafe<Value> => Type.Unsafe<Value>({ ...options, [Kind]: kind, type: 'string', enum: [...values] })
