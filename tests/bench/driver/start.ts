/** How long programs take to start and answer, and how much memory they hold. */
import { join } from 'node:path'
import { backlotCommand } from '../../support/backlot.ts'
import type { TestDesktop } from '../../support/desktop.ts'
import { driverCommand } from '../../support/driver.ts'
import type { BenchDesktop } from './bench-desktop.ts'
import { exactly, milliseconds, type Row, sideBySide } from './measure.ts'
import { initialize, residentMegabytes, Server } from './server.ts'

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

/** Time to the answer of `initialize`, and time of a shell call. */
export const startRows = async ({ on }: BenchDesktop): Promise<Row[]> => {
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
export const memoryRows = async (desktop: BenchDesktop): Promise<Row[]> => {
  const { on } = desktop
  const started = on.start(['gtk3-widget-factory'])
  const { pid, window_id } = await desktop.windowOf('gtk3-widget-factory', (each) => each.pid === started.pid)
  const window = { pid, window_id }
  const step = async (server: Server, round: number) => {
    if (round % 10 === 0) await server.call('get_window_state', { ...window, capture_mode: 'ax' })
    else if (round % 10 === 5) await server.call('get_window_state', { ...window, capture_mode: 'vision' })
    else await server.call('list_windows', {})
  }
  await using direct = await Server.open(on, backlotCommand('mcp', '--direct'))
  await using proxy = await Server.open(on, backlotCommand('mcp'))
  await using empty = await Server.open(on, [await compiled(on, 'empty-mcp')])
  const calls = async (from: number, to: number, servers: Server[]) => {
    for (let round = from; round < to; round++) {
      for (const server of servers) {
        if (server === empty) await server.call('nothing', {})
        else await step(server, round)
      }
    }
  }
  await calls(0, 1_000, [direct, proxy, empty])
  const status = JSON.parse((await on.run(driverCommand('status'))).stdout) as { pid: number }
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
