/** A running program that answers each line with a line: floors are measured in processes of their own. */
export class Program implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  readonly #output: AsyncIterator<Uint8Array>
  readonly #decoder = new TextDecoder()
  #rest = ''

  constructor(
    private readonly command: readonly [string, ...string[]],
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#child = Bun.spawn([...command], { env, stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
    this.#output = this.#child.stdout[Symbol.asyncIterator]()
  }

  get pid(): number {
    return this.#child.pid
  }

  /** The next line that it writes. */
  async next(): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf('\n')
      if (end >= 0) {
        const line = this.#rest.slice(0, end)
        this.#rest = this.#rest.slice(end + 1)
        return line
      }
      const { value, done } = await this.#output.next()
      if (done) throw new Error(`"${this.command.join(' ')}" ended`)
      this.#rest += this.#decoder.decode(value, { stream: true })
    }
  }

  /** Sends a line and gives the answer's. */
  async ask(line: string): Promise<string> {
    this.send(line)
    return this.next()
  }

  /** Sends a line. */
  send(line: string): void {
    this.#child.stdin.write(`${line}\n`)
    this.#child.stdin.flush()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end()
    this.#child.kill()
    await this.#child.exited
  }
}
