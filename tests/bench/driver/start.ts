/** How long programs take to start and answer, and how much memory they hold. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { backlotCommand } from '../../support/backlot.ts'
import type { TestDesktop } from '../../support/desktop.ts'
import { driverCommand } from '../../support/driver.ts'
import { exactly, milliseconds, type Row, sideBySide } from './measure.ts'

/** Compiles a program of this folder as the product is compiled, into the desktop's folder. */
const compiled = async (on: TestDesktop, name: string): Promise<string> => {
  const outfile = on.path(name)
  const { success, logs } = await Bun.build({
    entrypoints: [join(import.meta.dir, `${name}.ts`)],
    target: 'bun',
    format: 'esm',
    minify: true,
    bytecode: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  if (!success) throw new AggregateError(logs, `"${name}" does not compile`)
  return outfile
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
}

/** An MCP server as a child, asked one thing at a time. */
class Server implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'ignore'>
  readonly #output: AsyncIterator<Uint8Array>
  readonly #decoder = new TextDecoder()
  #rest = ''
  #asked = 0

  constructor(on: TestDesktop, command: readonly [string, ...string[]]) {
    this.#child = Bun.spawn([...command], { env: on.env, stdin: 'pipe', stdout: 'pipe', stderr: 'ignore' })
    this.#output = this.#child.stdout[Symbol.asyncIterator]()
  }

  async ask(message: object): Promise<unknown> {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`)
    await this.#child.stdin.flush()
    for (;;) {
      const end = this.#rest.indexOf('\n')
      if (end >= 0) {
        const line = this.#rest.slice(0, end)
        this.#rest = this.#rest.slice(end + 1)
        return JSON.parse(line)
      }
      const { value, done } = await this.#output.next()
      if (done) throw new Error('the server ended')
      this.#rest += this.#decoder.decode(value, { stream: true })
    }
  }

  /** Calls a tool, which must not fail. */
  async call(name: string, args: object): Promise<void> {
    this.#asked += 1
    const answer = await this.ask({
      jsonrpc: '2.0',
      id: this.#asked,
      method: 'tools/call',
      params: { name, arguments: args },
    })
    const { result } = answer as { result?: { isError?: boolean } }
    if (result === undefined || result.isError === true) throw new Error(JSON.stringify(answer).slice(0, 400))
  }

  async start(): Promise<void> {
    await this.ask(initialize)
    this.#child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  }

  get residentMegabytes(): number {
    return residentMegabytes(this.#child.pid)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end()
    this.#child.kill()
    await this.#child.exited
  }
}

/** Resident memory of a process (proc(5), `VmRSS`). */
const residentMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Time to the answer of `initialize`, and time of a shell call. */
export const startRows = async (on: TestDesktop): Promise<Row[]> => {
  const [emptyMcp, empty] = [await compiled(on, 'empty-mcp'), await compiled(on, 'empty')]
  const answered = (command: [string, ...string[]]) => () =>
    milliseconds(async () => {
      await using server = new Server(on, command)
      await server.ask(initialize)
    })
  const run = (command: [string, ...string[]]) => () =>
    milliseconds(async () => {
      const child = Bun.spawn(command, { env: on.env, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
      const said = await child.stdout.text()
      if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed: ${said}`)
    })
  const times = await sideBySide(20, {
    initialize: answered(backlotCommand('mcp')),
    emptyMcp: answered([emptyMcp]),
    shell: run(backlotCommand('list_windows', '{}')),
    empty: run([empty]),
  })
  return [
    {
      what: '`initialize` of `mcp`, from the start of the process',
      unit: 'ms',
      measured: times.initialize,
      floor: { name: 'empty MCP server', spread: times.emptyMcp },
      aim: { of: 'median', atMost: 150 },
    },
    {
      what: '`backlot list_windows` with its daemon running',
      unit: 'ms',
      measured: times.shell,
      floor: { name: 'empty Bun program', spread: times.empty },
      aim: { of: 'ratio', atMost: 3 },
    },
  ]
}

/** Memory after calls: of the server that runs the tools itself, and of proxy and daemon. */
export const memoryRows = async (on: TestDesktop, window: { pid: number; window_id: number }): Promise<Row[]> => {
  const step = async (server: Server, round: number) => {
    if (round % 10 === 0) await server.call('get_window_state', { ...window, capture_mode: 'ax' })
    else if (round % 10 === 5) await server.call('get_window_state', { ...window, capture_mode: 'vision' })
    else await server.call('list_windows', {})
  }
  await using direct = new Server(on, backlotCommand('mcp', '--direct'))
  await using proxy = new Server(on, backlotCommand('mcp'))
  await using empty = new Server(on, [await compiled(on, 'empty-mcp')])
  for (const server of [direct, proxy, empty]) await server.start()
  const calls = async (from: number, to: number, servers: Server[]) => {
    for (let round = from; round < to; round++) {
      for (const server of servers) {
        if (server === empty) await server.call('nothing', {})
        else await step(server, round)
      }
    }
  }
  const status = JSON.parse((await on.run(driverCommand('status'))).stdout) as { pid: number }
  await calls(0, 1_000, [direct, proxy, empty])
  const after1000 = direct.residentMegabytes
  const floor = empty.residentMegabytes
  const pair = proxy.residentMegabytes + residentMegabytes(status.pid)
  await calls(1_000, 10_000, [direct])
  return [
    {
      what: 'memory of `mcp --direct` after 1,000 calls',
      unit: 'MB',
      measured: exactly(after1000),
      floor: { name: 'empty MCP server after as many', spread: exactly(floor) },
      aim: { of: 'difference', atMost: 30 },
    },
    {
      what: 'its memory after 10,000 calls',
      unit: 'MB',
      measured: exactly(direct.residentMegabytes),
      floor: { name: 'after 1,000', spread: exactly(after1000) },
      aim: { of: 'difference', atMost: 5 },
    },
    { what: 'memory of `mcp` and its daemon together after 1,000 calls', unit: 'MB', measured: exactly(pair) },
  ]
}
