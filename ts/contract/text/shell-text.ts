/** Words that a shell reads back as they are, whatever they hold (POSIX, 2.2.2). */

/** A text in quotes. */
export const shellText = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** A text as it stands where no letter of it means anything to a shell, else in quotes. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : shellText(text))
