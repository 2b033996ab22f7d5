/** The two streams of a command: standard output carries data, standard error talk. */

type Sink = Bun.FileSink

const sinks: { output?: Sink; errors?: Sink } = {}

/**
 * Writes `text` whole, however slow the reader is; one that has gone away is no failure. Through a sink: `Bun.write`
 * empties a file when there is nothing to write, leaves zeros in one that is appended to, and forgets what a pipe in
 * non-blocking mode does not take.
 */
const write = async (sink: Sink, text: string | Uint8Array): Promise<void> => {
  if (text.length === 0) return
  try {
    await sink.write(text)
    await sink.flush()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EPIPE') throw error
  }
}

/** Writes data as it is. */
export const printPart = (text: string | Uint8Array): Promise<void> => {
  sinks.output ??= Bun.stdout.writer()
  return write(sinks.output, text)
}

/** Writes one line of data. */
export const print = (text: string): Promise<void> => printPart(`${text}\n`)

/** Writes a value as JSON on one line. */
export const printJson = (value: unknown): Promise<void> => print(JSON.stringify(value))

/** Writes talk as it is. */
export const sayPart = (text: string | Uint8Array): Promise<void> => {
  sinks.errors ??= Bun.stderr.writer()
  return write(sinks.errors, text)
}

/** Writes one line of talk. */
export const say = (text: string): Promise<void> => sayPart(`${text}\n`)
