/** The entry of a container, run as an engine runs it, and the processes in it. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { until } from './until.ts'

const root = join(import.meta.dir, '../..')

/** A process of the container, by the numbers of this side. */
export interface ContainerProcess {
  readonly pid: number
  readonly parent: number
  /** The name of its program, of which the kernel keeps 15 characters. */
  readonly name: string
  readonly state: string
}

/** Processes of the user, ended ones that nobody has buried included. */
export const processesOf = (uid: number): ContainerProcess[] =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        const status = readFileSync(`/proc/${entry}/status`, 'utf8')
        const field = (name: string) => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(status)?.[1] ?? ''
        if (Number(field('Uid')) !== uid) return []
        return [{ pid: Number(entry), parent: Number(field('PPid')), name: field('Name'), state: field('State') }]
      } catch {
        return []
      }
    })

/** A running entry; disposing of it ends all of the container. */
export interface TestContainer extends AsyncDisposable {
  /** What it wrote so far. */
  log(): string
  /** The first process. */
  readonly entry: ContainerProcess
  /** Its processes. */
  processes(): ContainerProcess[]
  /** The one process of a name, once it is there and is not `before`. */
  process(name: RegExp, before?: number): Promise<ContainerProcess>
  /** Settles when it has ended and all that it wrote has been read, with its status. */
  readonly exited: Promise<number>
  /** Asks it to end; settles with its status. */
  end(): Promise<number>
}

/** The user that the fixture gives it. */
const uid = 4321

/** Starts the entry of a recipe in `docker` with these variables; settles when its first process is there. */
export const startContainer = async (
  variables: Readonly<Record<string, string>>,
  recipe = 'desktop',
): Promise<TestContainer> => {
  // The entry calls it by its name.
  const executable = process.env.BACKLOT_BIN || join(root, 'dist/backlot')
  const child = Bun.spawn(
    [
      join(root, 'tests/support/fixtures/as-container.sh'),
      ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      join(root, 'docker', recipe, 'entry'),
    ],
    {
      cwd: root,
      env: { ...process.env, PATH: `${dirname(executable)}:${process.env.PATH ?? ''}` },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  let log = ''
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream() as never)) log += text
  }
  const reading = Promise.all([read(child.stdout), read(child.stderr)])
  const exited = reading.then(() => child.exited)
  const processes = () => processesOf(uid)
  const entry = await until('the first process', () => {
    if (child.exitCode !== null) throw new Error(`the container ended with ${child.exitCode}: ${log}`)
    return processes().find(({ name }) => name === 'entry')
  })
  return {
    log: () => log,
    entry,
    exited,
    processes,
    process: (name, before) =>
      until(`a process ${name}`, () =>
        processes().find((each) => name.test(each.name) && each.state !== 'Z' && each.pid !== before),
      ),
    async end() {
      process.kill(entry.pid, 'SIGTERM')
      return exited
    },
    async [Symbol.asyncDispose]() {
      // Who has changed its user does not die with the process that started it.
      const first = processes().find(({ pid }) => pid === entry.pid)
      if (first !== undefined) process.kill(first.pid, 'SIGKILL')
      await child.exited
      await until('the container to be gone', () => processes().length === 0)
    },
  }
}
