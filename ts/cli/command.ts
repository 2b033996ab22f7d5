/** What a command of the executable is; each stands in a module of its own under `commands/`, loaded when it is called. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string
  /** The whole text of `--help`: the forms of the call, then each flag on its own line. */
  readonly usage: string
  /** The text of `--help` for words of the command that stand before it; undefined where they have none of their own. */
  usageOf?(words: readonly string[]): string | undefined
  /**
   * Does the command with what stands after its name, and gives its exit status.
   * Throws a `Failure` to end with `error: …` on standard error and the exit code of the failure's row.
   */
  run(args: readonly string[]): Promise<number>
}
