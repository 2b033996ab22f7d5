/** Sizes as people write them: a number and a unit. */
import { Failure } from '../failure.ts'

const units: Readonly<Record<string, number>> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 }

/** What a size looks like: `8GB`, `8.0 gb`, `512MB`; without a unit it is gigabytes. */
export const sizePattern = '^\\s*[0-9]+(\\.[0-9]+)?\\s*([TtGgMmKk]?[Bb])?\\s*$'

/** The bytes of a size, rounded down to whole ones; the factor is 1024. Throws `invalid_argument` naming `field`. */
export const bytesOf = (text: string, field: string): number => {
  const [, number, unit = 'GB'] = /^\s*(\d+(?:\.\d+)?)\s*([tgmk]?b)?\s*$/i.exec(text) ?? []
  const bytes = Math.floor(Number(number) * (units[unit.toUpperCase()] ?? Number.NaN))
  if (Number.isSafeInteger(bytes)) return bytes
  throw new Failure('invalid_argument', `"${field}" is "${text}", which is no size; write it like "8GB".`, {
    argument: field,
  })
}

/** A size in the largest unit that leaves no fraction: `8GB`. */
export const sizeOf = (bytes: number): string => {
  const [unit = 'B', factor = 1] =
    Object.entries(units)
      .reverse()
      .find(([, each]) => bytes >= each && bytes % each === 0) ?? []
  return `${bytes / factor}${unit}`
}
