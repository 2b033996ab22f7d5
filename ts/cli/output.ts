/** The two streams of a command: standard output carries data, standard error talk. */

/** Writes `text` whole, however slow the reader is; one that has gone away is no failure. */
const write = async (file: Bun.BunFile, text: string): Promise<void> => {
  try {
    await Bun.write(file, text)
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
