/** Names that may have been meant where one is unknown. */

/** At most three of `known` that are close to `name`, the closest first. */
export const suggest = (name: string, known: readonly string[]): string[] => {
  const wanted = name.toLowerCase()
  return known
    .map((each) => ({ each, distance: wanted === '' ? Number.POSITIVE_INFINITY : distance(wanted, each) }))
    .filter(({ each, distance: far }) => far <= Math.max(1, Math.floor(each.length / 3)) || each.includes(wanted))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ each }) => each)
}

/** Insertions, deletions and replacements that lead from one text to the other (Levenshtein). */
const distance = (from: string, to: string): number => {
  // A name longer than any command is close to none; its length is whatever a stranger sends.
  if (from.length > 64) return Number.POSITIVE_INFINITY
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
