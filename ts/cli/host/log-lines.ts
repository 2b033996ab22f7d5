/** Lines of the service's log: those of one VM or all, in the order of time, and those that follow. */
import type { Service } from './service.ts'

/** A line of the log: a JSON object. */
interface LogLine {
  readonly time: string
  readonly vm?: string
  readonly text: string
}

const read = (text: string): LogLine => {
  try {
    const { time = '', vm } = JSON.parse(text) as { time?: string; vm?: string }
    return { time, text, ...(vm !== undefined && { vm }) }
  } catch {
    return { time: '', text }
  }
}

/** What is wanted of the log. */
export interface LogOptions {
  readonly type?: 'info' | 'error' | 'all'
  readonly lines?: number
  /** Only lines about this VM. */
  readonly vm?: string
}

/** The lines that are there. */
export const logLines = async ({ client }: Service, { type, lines, vm }: LogOptions): Promise<string[]> => {
  const log = await client.getLogs({ ...(type !== undefined && { type }), ...(lines !== undefined && { lines }) })
  return [...(log.info ?? []), ...(log.error ?? [])]
    .map(read)
    .filter((line) => vm === undefined || line.vm === vm)
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
    .map(({ text }) => text)
}

/** Milliseconds between two looks at the log. */
const pollIntervalMs = 500

/** The lines that are there and those that come, until the signal. */
export async function* followLog(service: Service, options: LogOptions, signal: AbortSignal): AsyncGenerator<string> {
  let last: string | undefined
  for (let first = true; !signal.aborted; first = false) {
    // Without a line to begin with it would not be known which come later.
    const lines = await logLines(service, first && options.lines !== 0 ? options : { ...options, lines: 1_000 })
    const from = last === undefined ? 0 : lines.lastIndexOf(last) + 1
    if (!first || options.lines !== 0) for (const line of lines.slice(from)) yield line
    last = lines.at(-1) ?? last
    await Bun.sleep(pollIntervalMs)
  }
}
