/** The steps of the demo: each runs, is timed and printed. */

/** Counts and times steps. */
export class Steps {
  /** The step that runs, or the last one that did. */
  current = ''
  count = 0
  totalMs = 0

  /** `print` gets one line a finished step. */
  constructor(private readonly print: (line: string) => Promise<void>) {}

  /** Runs a step; what it throws ends the demo. */
  async run<T>(name: string, step: () => Promise<T>): Promise<T> {
    this.current = name
    const startedAt = performance.now()
    const result = await step()
    const ms = performance.now() - startedAt
    this.count += 1
    this.totalMs += ms
    await this.print(`${ms.toFixed(0).padStart(6)} ms  ${name}`)
    return result
  }
}
