/** Names that may have been meant where one is unknown. */
import { editDistance } from '@backlot/contract/text/edit-distance'

/** At most three of `known` that are close to `name`, the closest first. */
export const suggest = (name: string, known: readonly string[]): string[] => {
  const wanted = name.toLowerCase()
  // A name longer than any command is close to none; its length is whatever a stranger sends.
  const isNear = wanted !== '' && wanted.length <= 64
  return known
    .map((each) => ({ each, distance: isNear ? editDistance(wanted, each) : Number.POSITIVE_INFINITY }))
    .filter(({ each, distance: far }) => far <= Math.max(1, Math.floor(each.length / 3)) || each.includes(wanted))
    .sort((one, other) => one.distance - other.distance)
    .slice(0, 3)
    .map(({ each }) => each)
}
