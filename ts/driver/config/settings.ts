/** Changing the configuration as the person: all keys, those too that are about what agents may do. */
import { type TSchema, Type } from '@sinclair/typebox'
import type { Driver } from '../driver.ts'
import { checkArguments } from '../tool/check.ts'
import { type Config, configSchema } from './config.ts'

/** A key as an argument: what is not given stays as it is. */
export const withoutDefault = <Schema extends TSchema>({ default: _, ...schema }: Schema): Schema =>
  schema as unknown as Schema

const optional = (schema: TSchema): TSchema => Type.Optional(withoutDefault(schema))

const keys = Type.Object(
  Object.fromEntries(Object.entries(configSchema.properties).map(([name, schema]) => [name, optional(schema)])),
)

/**
 * Stores changed keys and gives the whole configuration. Throws `invalid_argument`, `unknown_key` and
 * `unknown_modifier` for a stop key that is none, and what `ConfigFile.write` does.
 */
export const changeSettings = async (driver: Driver, changes: Record<string, unknown>): Promise<Config> => {
  const checked = checkArguments({ name: 'config', arguments: keys }, changes) as Partial<Config>
  if (checked.stop_key) (await driver.native()).checkCombination(checked.stop_key.split('+').map((name) => name.trim()))
  return driver.config.write(checked)
}
