/** Whether a text is another one with something inserted. */

/**
 * True when `after` is `before` with `text` put in, once, in the place of nothing or of one selected part: whatever
 * arrived twice, in part or changed on its way makes it false.
 */
export const isSpliced = (before: string, after: string, text: string): boolean => {
  // A selection that was replaced by itself cannot be told from nothing at all.
  if (before === after) return false
  const grown = after.length - text.length
  // The parts before and behind were both there, and did not overlap.
  const fits = (at: number): boolean =>
    before.startsWith(after.slice(0, at)) && before.endsWith(after.slice(at + text.length)) && grown <= before.length
  for (let at = after.indexOf(text); at !== -1; at = after.indexOf(text, at + 1)) if (fits(at)) return true
  return false
}
