/** What a caller gives of a computer server that is there already. */
import { InvalidArgumentError } from '../errors.ts'
import type { Address } from './where.ts'

/** What a caller gave of an address; undefined where it gave none. Throws `invalid_argument` for two of them. */
export const addressIn = (options: object): Address | undefined => {
  const { httpUrl, wsUrl, transport } = options as Partial<Record<'httpUrl' | 'wsUrl' | 'transport', unknown>>
  const given = Object.entries({ httpUrl, wsUrl, transport }).filter(([, value]) => value !== undefined)
  if (given.length === 0) return undefined
  const others = ['runtime', 'local', 'region', 'cpu', 'memoryMb', 'diskGb'].filter(
    (name) => (options as Record<string, unknown>)[name] !== undefined,
  )
  if (given.length === 1 && others.length === 0) return options as Address
  const names = [...given.map(([name]) => name), ...others].map((name) => `"${name}"`).join(' and ')
  throw new InvalidArgumentError('invalid_argument', `${names} exclude each other: give one address alone.`, {
    data: { arguments: [...given.map(([name]) => name), ...others] },
  })
}
