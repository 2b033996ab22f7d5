/** Sizes of tarballs, for people. */
import type { Tarball } from './folder.ts'

const units = ['B', 'kB', 'MB', 'GB'] as const

/** `75.5 MB`: decimal units, as registries show sizes. */
export const sizeText = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`
}

/** A line for each tarball: its name, and its size packed and unpacked. */
export const sizesTable = (tarballs: readonly Tarball[]): string => {
  const rows = tarballs.map(({ name, version, packedBytes, unpackedBytes, files }) => [
    `${name}@${version}`,
    sizeText(packedBytes),
    sizeText(unpackedBytes),
    String(files),
  ])
  const all = [['package', 'packed', 'unpacked', 'files'], ...rows]
  const width = (column: number) => Math.max(...all.map((row) => (row[column] ?? '').length))
  return all
    .map((row) => row.map((text, column) => (column === 0 ? text.padEnd(width(0)) : text.padStart(width(column)))))
    .map((row) => row.join('  '))
    .join('\n')
}
