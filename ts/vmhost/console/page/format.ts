/** Numbers as people read them. */
const units = ['B', 'KB', 'MB', 'GB', 'TB']

/** Bytes in the largest unit that leaves a number of at least one: `1.5 GB`. */
export const bytes = (count: number): string => {
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(count) / 10))
  const number = count / 1024 ** power
  return `${number >= 100 || Number.isInteger(number) ? Math.round(number) : number.toFixed(1)} ${units[power]}`
}

/** A moment, in the reader's own way. */
export const moment = (iso: string): string =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
