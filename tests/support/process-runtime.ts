/** A runtime as a user writes one: each sandbox is a process `backlot computer`, which outlives the program that started it. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type CallOptions,
  Runtime,
  type RuntimeFeatures,
  type RuntimeInfo,
  type SandboxOptions,
  type SandboxStatus,
  type Source,
} from '@backlot/sdk'

/** What the runtime notes of a process. */
interface Noted {
  readonly pid: number
  readonly port: number
}

/** The key that its computer servers ask for. */
export const serverKey = 'key-of-the-computer-server'

export class ProcessRuntime extends Runtime {
  readonly name = 'process'
  readonly features: RuntimeFeatures = {
    os: ['linux'],
    kinds: ['container'],
    isolation: 'none',
    suspend: 'frozen',
    fork: { unsupported: 'A process cannot be copied with its sockets.' },
    snapshot: { unsupported: 'A process is not saved.' },
    pool: { unsupported: 'Processes are not kept ready.' },
    display: { unsupported: 'It has no screen.' },
    tunnel: true,
    mounts: { unsupported: 'It sees the folders of the host as they are.' },
    network: ['internet'],
    resources: ['cpu'],
  }

  /** @param folder What it notes: a file for each process. @param bin The executable. */
  constructor(
    readonly folder: string,
    readonly command: readonly [string, ...string[]],
  ) {
    super()
    mkdirSync(folder, { recursive: true })
  }

  async start(source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    const home = join(this.folder, `${name}.home`)
    mkdirSync(home)
    this.#note('started', { name, source: (source as { osType?: string }).osType, ttlMs: options.ttlMs })
    const [program, ...args] = this.command
    const child = spawn(program, [...args, 'computer', '--port', '0'], {
      detached: true,
      env: { PATH: process.env.PATH, HOME: home, BACKLOT_HOME: home, TMPDIR: home, BACKLOT_COMPUTER_KEY: serverKey },
      stdio: ['ignore', openSync(join(home, 'out'), 'w'), openSync(join(home, 'err'), 'w')],
    })
    child.unref()
    this.#write(name, { pid: child.pid ?? 0, port: 0 })
    const port = await portOf(child, join(home, 'out'), options.signal)
    this.#write(name, { pid: child.pid ?? 0, port })
    return { host: '127.0.0.1', apiPort: port, apiKey: serverKey, name, environment: 'linux' }
  }

  async stop(name: string): Promise<void> {
    this.#note('stopped', { name })
    const noted = this.#read(name)
    if (noted !== undefined) await end(noted.pid)
    rmSync(join(this.folder, `${name}.json`), { force: true })
    rmSync(join(this.folder, `${name}.home`), { recursive: true, force: true })
  }

  async isReady(info: RuntimeInfo, { timeoutMs = 120_000, signal }: CallOptions = {}): Promise<boolean> {
    for (const deadline = performance.now() + timeoutMs; performance.now() < deadline; await pause(10)) {
      signal?.throwIfAborted()
      const answer = await fetch(`http://${info.host}:${info.apiPort}/status`).catch(() => undefined)
      if (answer?.ok && ((await answer.json()) as { phase?: string }).phase === 'ready') return true
    }
    return false
  }

  async suspend(name: string): Promise<void> {
    this.#note('suspended', { name })
    const { pid } = this.#signal(name, 'SIGSTOP')
    while (stateOf(pid) !== undefined && stateOf(pid) !== 'T') await pause(5)
  }

  async resume(source: Source, name: string): Promise<RuntimeInfo> {
    this.#note('resumed', { name, source: (source as { osType?: string }).osType })
    const { pid, port } = this.#signal(name, 'SIGCONT')
    while (stateOf(pid) === 'T') await pause(5)
    return { host: '127.0.0.1', apiPort: port, apiKey: serverKey, name, environment: 'linux' }
  }

  async list(): Promise<{ name: string; status: SandboxStatus; pid: number }[]> {
    // A test that has ended took its folder with it.
    if (!existsSync(this.folder)) return []
    return readdirSync(this.folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => file.slice(0, -'.json'.length))
      .flatMap((name) => {
        const noted = this.#read(name)
        const state = noted && stateOf(noted.pid)
        if (noted === undefined || state === undefined) return []
        return [{ name, status: state === 'T' ? ('suspended' as const) : ('running' as const), pid: noted.pid }]
      })
  }

  override async *logs(name: string): AsyncIterable<string> {
    const text = readFileSync(join(this.folder, `${name}.home`, 'err'), 'utf8')
    yield* text.split('\n').filter((line) => line !== '')
  }

  /** The verbs that were called, in order. */
  get calls(): { verb: string; name: string; [fact: string]: unknown }[] {
    const path = join(this.folder, 'calls')
    const lines = readdirSync(this.folder).includes('calls') ? readFileSync(path, 'utf8').trim().split('\n') : []
    return lines.map((line) => JSON.parse(line))
  }

  /** Ends all that runs, whatever the state files say. */
  async endAll(): Promise<void> {
    for (const { name } of await this.list()) await this.stop(name)
  }

  #note(verb: string, facts: object): void {
    appendFileSync(join(this.folder, 'calls'), `${JSON.stringify({ verb, ...facts })}\n`)
  }

  #signal(name: string, signal: NodeJS.Signals): Noted {
    const noted = this.#read(name)
    if (noted === undefined) throw new Error(`no process "${name}"`)
    process.kill(noted.pid, signal)
    return noted
  }

  #write(name: string, noted: Noted): void {
    writeFileSync(join(this.folder, `${name}.json`), JSON.stringify(noted))
  }

  #read(name: string): Noted | undefined {
    try {
      return JSON.parse(readFileSync(join(this.folder, `${name}.json`), 'utf8'))
    } catch {
      return undefined
    }
  }
}

const portOf = async (child: ChildProcess, path: string, signal?: AbortSignal): Promise<number> => {
  for (;;) {
    signal?.throwIfAborted()
    const [, port] = /^http:\/\/[^:]+:(\d+)\n/.exec(readFileSync(path, 'utf8')) ?? []
    if (port !== undefined) return Number(port)
    if (child.exitCode !== null) throw new Error('the process ended before it listened')
    await pause(10)
  }
}

/** The letter of a process's state; undefined where it has ended. */
export const stateOf = (pid: number): string | undefined => {
  try {
    const state = /\) (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1]
    return state === 'Z' || state === 'X' ? undefined : state
  } catch {
    return undefined
  }
}

/** Ends a process, stopped or not, and waits until it has. */
export const end = async (pid: number): Promise<void> => {
  const send = (signal: NodeJS.Signals) => {
    if (stateOf(pid) !== undefined) process.kill(pid, signal)
  }
  // A stopped process takes a signal once it goes on.
  send('SIGTERM')
  if (stateOf(pid) === 'T') send('SIGCONT')
  for (let looks = 0; stateOf(pid) !== undefined; looks += 1) {
    if (looks === 500) send('SIGKILL')
    await pause(10)
  }
}
