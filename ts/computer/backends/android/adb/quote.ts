/** Words for the shell of a device. */
import { shellWord } from '@backlot/contract/text/shell-text'

/** A word as the shell reads it back, whatever it holds (POSIX, 2.2.2). */
export const quoted = (word: string | number): string => shellWord(String(word))

/** A command of words, none of which the shell takes for anything else. */
export const commandOf = (words: readonly (string | number)[]): string => words.map(quoted).join(' ')
