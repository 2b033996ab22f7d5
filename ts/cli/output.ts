/** The two streams of a command: standard output carries data, standard error talk. */

/** Characters up to which a text is written at once: a pipe in non-blocking mode takes so much (PIPE_BUF), and Bun forgets what it does not take of more. */
const mostAtOnce = 4096

/** Writes `text` whole, however slow the reader is; one that has gone away is no failure. */
const write = async (file: Bun.BunFile, text: string): Promise<void> => {
  try {
    // What is written at once needs no other thread.
    await Bun.write(file, text.length > mostAtOnce ? new Blob([text]) : text)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EPIPE') throw error
  }
}

/** Writes one line of data. */
export const print = (text: string): Promise<void> => write(Bun.stdout, `${text}\n`)

/** Writes a value as JSON on one line. */
export const printJson = (value: unknown): Promise<void> => print(JSON.stringify(value))

/** Writes one line of talk. */
export const say = (text: string): Promise<void> => write(Bun.stderr, `${text}\n`)
