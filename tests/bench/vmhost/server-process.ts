/** Servers as processes of a bench: ours, and one that does nothing. */
import { join } from 'node:path'
import { residentMegabytes } from '../driver/server.ts'

/** Megabytes. */
export type Memory = Readonly<Record<'all' | 'own', number>>

/** A server as a process: the address that it printed. */
export class Service implements AsyncDisposable {
  private constructor(
    readonly url: string,
    private readonly child: Bun.Subprocess<'ignore', 'pipe', 'ignore'>,
  ) {}

  static async start(command: readonly [string, ...string[]], home: string): Promise<Service> {
    const child = Bun.spawn([...command], {
      env: { ...process.env, BACKLOT_HOME: home },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const { value } = await child.stdout.getReader().read()
    return new Service(new TextDecoder().decode(value).trim(), child)
  }

  async ask(path: string, body?: object): Promise<void> {
    const answer = await fetch(
      this.url + path,
      body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) },
    )
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
  }

  /** Resident memory, and what of it is no page of a file. */
  get memory(): Memory {
    const { pid } = this.child
    return { all: residentMegabytes(pid), own: residentMegabytes(pid, 'RssAnon') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill()
    await this.child.exited
  }
}

/** The empty server, compiled as the product is. */
export const compiledEmpty = async (folder: string): Promise<[string]> => {
  const outfile = join(folder, 'empty-elysia')
  const { success, logs } = await Bun.build({
    entrypoints: [join(import.meta.dir, 'empty-elysia.ts')],
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  if (!success) throw new AggregateError(logs, 'the empty server does not compile')
  return [outfile]
}
