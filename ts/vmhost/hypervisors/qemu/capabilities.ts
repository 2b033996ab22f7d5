/** What a hypervisor may do that root starts; another user has no such rights to give. */

/** Capabilities that it keeps (capabilities(7)): any port of the guest, and discs to read that are another user's. */
const always = ['net_bind_service', 'dac_read_search']
/** The guest acts in shared folders as the users that it names. */
const withShares = ['chown', 'dac_override', 'fowner', 'fsetid']

/** The words before a program that leave it no more of root's rights than that; none where nothing can be taken. */
export const withoutCapabilities = (hasShares: boolean, isRoot = process.getuid?.() === 0): readonly string[] => {
  const setpriv = isRoot ? Bun.which('setpriv') : null
  if (setpriv === null) return []
  const kept = hasShares ? [...always, ...withShares] : always
  const words = [setpriv, '--inh-caps=-all', `--bounding-set=-all,${kept.map((name) => `+${name}`).join()}`, '--']
  return isAllowed(words) ? words : []
}

/** What was found of the words that were tried. */
const allowed = new Map<string, boolean>()

/** In some containers root may not give up what it has; that stays as it is as long as this process lives. */
const isAllowed = (words: readonly string[]): boolean => {
  const tried = words.join(' ')
  const known = allowed.get(tried)
  if (known !== undefined) return known
  const found = isTaken(words)
  allowed.set(tried, found)
  return found
}

const isTaken = (words: readonly string[]): boolean => {
  try {
    return Bun.spawnSync([...words, 'true'], { stdio: ['ignore', 'ignore', 'ignore'] }).success
  } catch {
    return false
  }
}
