/** Names of sandboxes. */
import { Failure } from '@backlot/contract/failure'

const form = /^[a-z0-9-]{1,63}$/

/** The name itself where it is one; throws `invalid_argument`. */
export const sandboxName = (text: string): string => {
  if (form.test(text)) return text
  throw new Failure(
    'invalid_argument',
    `"${text}" is no name of a sandbox; take 1 to 63 of the characters a-z, 0-9 and "-".`,
    { argument: 'name' },
  )
}

const qualities = ['quiet', 'bright', 'early', 'brave', 'calm', 'clear', 'green', 'kind', 'light', 'swift']
const things = ['river', 'stone', 'cloud', 'field', 'harbor', 'maple', 'meadow', 'summit', 'valley', 'willow']

const oneOf = (words: readonly string[]): string => words[Math.floor(Math.random() * words.length)] ?? ''

/** A name for a sandbox that was given none: two words and a number. */
export const newName = (): string => `${oneOf(qualities)}-${oneOf(things)}-${1_000 + Math.floor(Math.random() * 9_000)}`
