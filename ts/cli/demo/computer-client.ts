/** A client of a computer server: commands and files over HTTP. */
import { codeOf, Failure } from '@backlot/contract/failure'

/** What a command gives back. */
export type Fields = Readonly<Record<string, unknown>>

/** A computer server that is asked. */
export class ComputerClient {
  /** `http://127.0.0.1:PORT`. */
  constructor(
    readonly url: string,
    private readonly signal: AbortSignal,
  ) {}

  /** Runs a command; a failed one throws its failure. */
  async ask(command: string, params: Fields = {}): Promise<Fields> {
    const answer = await fetch(`${this.url}/cmd`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ command, params }),
      signal: this.signal,
    })
    const result = JSON.parse((await answer.text()).replace(/^data: /, '')) as Fields
    if (result.success === true) return result
    const text = `${command}: ${String(result.error ?? result.message ?? result.detail)}`
    throw new Failure(codeOf(result.code), text)
  }

  /** Writes a file on the computer. */
  async put(path: string, content: string): Promise<void> {
    const { ok, status } = await fetch(this.#file(path), { method: 'PUT', body: content, signal: this.signal })
    if (!ok) throw new Failure('internal', `The file "${path}" was not taken: status ${status}.`)
  }

  /** Reads a file of the computer; undefined where there is none. */
  async get(path: string): Promise<string | undefined> {
    const answer = await fetch(this.#file(path), { signal: this.signal })
    return answer.ok ? answer.text() : undefined
  }

  #file(path: string): string {
    return `${this.url}/files?path=${encodeURIComponent(path)}`
  }
}
