import { expect, test } from 'bun:test'
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { callsAtOnce, daemon as limits } from '@backlot/contract/limits'
import { lockSocket } from '@backlot/driver/edges/daemon/lock'
import { privateDesktop, type TestDesktop } from '../support/desktop.ts'
import { driverCommand, openSocket } from '../support/driver.ts'
import { connect } from '../support/mcp-client.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'

const desktop = privateDesktop()

interface Running extends AsyncDisposable {
  readonly process: Bun.Subprocess<'ignore', 'ignore', 'pipe'>
  readonly socket: string
}

/** A daemon on a socket of its own, as a person starts it; ready when it says so. */
const serve = async (
  on: TestDesktop,
  options: { socket?: string; flags?: string[]; env?: Record<string, string> } = {},
) => {
  const socket = options.socket ?? on.path('driver.sock')
  const process = Bun.spawn([...driverCommand('serve', '--socket', socket, ...(options.flags ?? []))], {
    env: { ...on.env, ...options.env },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  for await (const bytes of process.stderr) if (Buffer.from(bytes).includes('listens on')) break
  const running: Running = {
    process,
    socket,
    async [Symbol.asyncDispose]() {
      process.kill()
      await process.exited
    },
  }
  return running
}

const statusOf = async (on: TestDesktop, socket: string): Promise<Record<string, unknown>> => {
  const { stdout, status } = await on.run(driverCommand('status', '--socket', socket))
  return { status, ...JSON.parse(stdout) }
}

const isGone = (pid: number): boolean => !existsSync(`/proc/${pid}/exe`) || !existsSync(`/proc/${pid}/cwd`)

test(
  'serve, status and stop are one life',
  proving(['driver.option.socket'], async () => {
    await using daemon = await serve(desktop())
    expect(await statusOf(desktop(), daemon.socket)).toMatchObject({
      status: 0,
      running: true,
      pid: daemon.process.pid,
      version: '0.1.0',
      display: desktop().desktop.display,
      bus: desktop().env.DBUS_SESSION_BUS_ADDRESS?.replace(/,guid=.*/, ''),
      idle_timeout_s: 0,
    })
    expect((await desktop().run(driverCommand('stop', '--socket', daemon.socket))).status).toBe(0)
    expect(await daemon.process.exited).toBe(0)
    expect(existsSync(daemon.socket)).toBe(false)
    expect(await statusOf(desktop(), daemon.socket)).toMatchObject({ status: 1, running: false })
    expect((await desktop().run(driverCommand('stop', '--socket', daemon.socket))).status).toBe(0)
  }),
)

test('the socket is for its owner alone', async () => {
  const socket = `${desktop().path('made')}/driver.sock`
  await using daemon = await serve(desktop(), { socket })
  expect(lstatSync(daemon.socket).mode & 0o777).toBe(0o600)
  expect(lstatSync(dirname(daemon.socket)).mode & 0o777).toBe(0o700)
})

test('a folder that others can write to, a link, and a file in the way are refused', async () => {
  const open = desktop().path('open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  const link = desktop().path('link')
  symlinkSync(open, link)
  const file = desktop().path('file')
  writeFileSync(file, 'mine')
  const refusals = { [`${open}/d.sock`]: 'can be written by others', [file]: 'is not a socket' }
  for (const [socket, reason] of Object.entries(refusals)) {
    const { status, stderr } = await desktop().run(driverCommand('serve', '--socket', socket))
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(reason) })
    const shell = await desktop().backlot(['get_config', '{}', '--socket', socket])
    expect([shell.status, JSON.parse(shell.stdout).code]).toEqual([1, 'socket_refused'])
  }
})

test('a second serve says that one is running, and leaves it running', async () => {
  await using daemon = await serve(desktop())
  const { status, stderr } = await desktop().run(driverCommand('serve', '--socket', daemon.socket))
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('already running') })
  expect(await statusOf(desktop(), daemon.socket)).toMatchObject({ pid: daemon.process.pid })
})

test('the socket of a killed daemon is replaced', async () => {
  const killed = await serve(desktop())
  killed.process.kill('SIGKILL')
  await killed.process.exited
  expect(existsSync(killed.socket)).toBe(true)
  await using daemon = await serve(desktop(), { socket: killed.socket })
  expect(await statusOf(desktop(), daemon.socket)).toMatchObject({ pid: daemon.process.pid })
})

test('SIGTERM and SIGINT end it in order, with an answer to what runs', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    await using daemon = await serve(desktop())
    await using client = await openSocket(daemon.socket)
    client.send({ id: 1, method: 'call', name: 'launch_app', args: { name: 'sleep', additional_arguments: ['60'] } })
    await until('the call to be counted', async () => {
      client.send({ id: 2, method: 'status' })
      return ((await client.next()).result as { calls: number }).calls === 1
    })
    daemon.process.kill(signal)
    expect(await client.next()).toMatchObject({ id: 1, ok: false, code: 'cancelled' })
    await client.closed
    expect(await daemon.process.exited).toBe(0)
    expect(existsSync(daemon.socket)).toBe(false)
  }
})

test('one that a client started ends when nobody has been connected for its idle time', async () => {
  await using daemon = await serve(desktop(), { flags: ['--idle-timeout-s', '1'] })
  const client = await openSocket(daemon.socket)
  client.send({ method: 'status' })
  expect(await client.next()).toMatchObject({ result: { idle_timeout_s: 1, connections: 1 } })
  client.end()
  await client.closed
  expect(await daemon.process.exited).toBe(0)
})

test('of several clients that find none, all reach the same one', async () => {
  const socket = desktop().path('race.sock')
  const calls = Array.from({ length: 5 }, () => desktop().backlot(['get_config', '{}', '--socket', socket]))
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([0, 0, 0, 0, 0])
  expect(await statusOf(desktop(), socket)).toMatchObject({ running: true, calls: 5, idle_timeout_s: 300 })
  await desktop().run(driverCommand('stop', '--socket', socket))
})

test('a proxy whose daemon was killed starts another one', async () => {
  const socket = desktop().path('killed.sock')
  await using mcp = await connect(desktop(), '--socket', socket)
  await mcp.ask('get_config')
  const pid = Number((await statusOf(desktop(), socket)).pid)
  const inFlight = mcp.call('launch_app', { name: 'sleep', additional_arguments: ['60'] })
  await until('the call to be under way', async () => (await statusOf(desktop(), socket)).calls === 2)
  process.kill(pid, 'SIGKILL')
  expect((await inFlight).structured).toMatchObject({
    code: 'daemon_lost',
    message: expect.stringContaining('unknown'),
  })
  await until('the process to be gone', () => isGone(pid))
  await mcp.ask('get_config')
  const after = await statusOf(desktop(), socket)
  expect([after.running, after.pid === pid]).toEqual([true, false])
  await desktop().run(driverCommand('stop', '--socket', socket))
})

test('a caller from another display or bus is refused by name', async () => {
  await using daemon = await serve(desktop())
  for (const [variable, value, key] of [
    ['DISPLAY', ':7777', 'display'],
    ['DBUS_SESSION_BUS_ADDRESS', 'unix:path=/nowhere', 'bus'],
  ] as const) {
    const { stdout, status } = await desktop().backlot(['get_config', '{}', '--socket', daemon.socket], {
      env: { [variable]: value },
    })
    expect([status, JSON.parse(stdout)]).toEqual([
      1,
      expect.objectContaining({ code: 'daemon_mismatch', message: expect.stringContaining(`its ${key} is`) }),
    ])
  }
})

test('a client of another version is refused before its calls run', async () => {
  await using daemon = await serve(desktop())
  await using client = await openSocket(daemon.socket)
  const expected = { version: '9.9.9', display: '', bus: '' }
  client.write(
    `${JSON.stringify({ id: 1, method: 'hello', expect: expected })}\n${JSON.stringify({ id: 2, method: 'call', name: 'get_config' })}\n`,
  )
  expect(await client.next()).toMatchObject({ id: 1, ok: false, code: 'daemon_mismatch', data: { replaceable: false } })
  await client.closed
  expect(await statusOf(desktop(), daemon.socket)).toMatchObject({ calls: 0 })
})

test('an idle daemon that a client started and that does not match is replaced, a busy one is not', async () => {
  const other = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/another' }
  await using daemon = await serve(desktop(), { flags: ['--idle-timeout-s', '300'], env: other })
  const call = () => desktop().backlot(['get_config', '{}', '--socket', daemon.socket])
  const busy = await openSocket(daemon.socket)
  expect(JSON.parse((await call()).stdout).code).toBe('daemon_mismatch')
  busy.end()
  await busy.closed
  expect((await call()).status).toBe(0)
  expect(await daemon.process.exited).toBe(0)
  await desktop().run(driverCommand('stop', '--socket', daemon.socket))
})

test('a daemon that holds what somebody needs is not replaced', async () => {
  const other = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/another' }
  const call = (socket: string, name: string, args: object, env = {}) =>
    desktop().backlot([name, JSON.stringify(args), '--socket', socket], { env })
  for (const [name, args, end, ended] of [
    ['start_recording', { output_dir: desktop().path('kept') }, 'stop_recording', {}],
    ['start_session', { session: 'kept' }, 'end_session', { session: 'kept' }],
  ] as const) {
    await using daemon = await serve(desktop(), { flags: ['--idle-timeout-s', '300'], env: other })
    expect((await call(daemon.socket, name, args, other)).status).toBe(0)
    expect([name, JSON.parse((await call(daemon.socket, 'get_config', {})).stdout)]).toMatchObject([
      name,
      { code: 'daemon_mismatch' },
    ])
    expect(daemon.process.exitCode).toBeNull()
    expect((await call(daemon.socket, end, ended, other)).status).toBe(0)
    expect((await call(daemon.socket, 'get_config', {})).status).toBe(0)
    expect(await daemon.process.exited).toBe(0)
    await desktop().run(driverCommand('stop', '--socket', daemon.socket))
  }
})

/** Where a daemon of the desktop logs that a client started. */
const logOf = (): string => `${desktop().home}/.local/state/backlot/driver-${desktop().desktop.display.slice(1)}.log`

/** How many were started that wait for the lock of a socket. */
const waitingFor = (socket: string): number =>
  existsSync(logOf()) ? readFileSync(logOf(), 'utf8').split(`waits for ${socket}.lock`).length - 1 : 0

test('a call while a daemon ends is answered by the next one', async () => {
  const socket = desktop().path('ending.sock')
  await using mcp = await connect(desktop(), '--socket', socket)
  // As a daemon that ends: it listens no more, and holds its lock until everything is given back.
  const lock = await lockSocket(socket)
  const calls = [mcp.call('get_config'), mcp.call('get_config')]
  const shell = desktop().backlot(['get_config', '{}', '--socket', socket])
  await until('both clients to have started one', () => waitingFor(socket) >= 2)
  lock.release()
  expect((await Promise.all(calls)).map(({ isError }) => isError)).toEqual([false, false])
  expect((await shell).status).toBe(0)
  await desktop().run(driverCommand('stop', '--socket', socket))
})

test('calls while daemons are stopped are answered, or refused with a code', async () => {
  const socket = desktop().path('stopped.sock')
  await using mcp = await connect(desktop(), '--socket', socket)
  const codes = new Set<unknown>()
  for (let round = 0; round < 8; round += 1) {
    await mcp.ask('get_config')
    const [through, shell] = await Promise.all([
      mcp.call('get_config'),
      desktop().backlot(['get_config', '{}', '--socket', socket]),
      desktop().run(driverCommand('stop', '--socket', socket)),
    ])
    codes.add(through.structured.code)
    codes.add(JSON.parse(shell.stdout).code)
  }
  // Each either was done, or had begun when the daemon ended.
  expect([...codes].filter((code) => ![undefined, 'cancelled', 'daemon_lost'].includes(code as string))).toEqual([])
  await desktop().run(driverCommand('stop', '--socket', socket))
})

test('a daemon that hangs hangs nobody', async () => {
  await using daemon = await serve(desktop())
  const flags = ['--socket', daemon.socket]
  await using known = await connect(desktop(), ...flags)
  await known.ask('get_config')
  daemon.process.kill('SIGSTOP')
  try {
    await using fresh = await connect(desktop(), ...flags)
    const [list, through, late, shell, stop, status] = await Promise.all([
      fresh.client.listTools(),
      fresh.call('get_config'),
      known.call('get_config'),
      desktop().backlot(['get_config', '{}', ...flags]),
      desktop().run(driverCommand('stop', ...flags)),
      desktop().run(driverCommand('status', ...flags)),
    ])
    expect(list.tools).not.toBeEmpty()
    expect([through, late].map(({ structured }) => structured.code)).toEqual([
      'daemon_unavailable',
      'daemon_unavailable',
    ])
    // It was handed over, and who wakes may still read it.
    expect(JSON.parse(shell.stdout)).toMatchObject({ code: 'daemon_lost', message: expect.stringContaining('unknown') })
    expect([stop, status].map(({ status: exit, stderr }) => [exit, stderr.includes('has not answered')])).toEqual([
      [1, true],
      [1, true],
    ])
  } finally {
    daemon.process.kill('SIGCONT')
  }
  await known.ask('get_config')
})

test('a call that a daemon has begun is given up when the daemon hangs', async () => {
  await using daemon = await serve(desktop())
  const flags = ['--socket', daemon.socket]
  await using mcp = await connect(desktop(), ...flags)
  const waiting = { condition: 'window', title: 'nowhere', timeout_ms: 60_000 }
  const through = mcp.call('wait_for', waiting)
  const shell = desktop().backlot(['wait_for', JSON.stringify(waiting), ...flags])
  await until('both calls to run', async () => (await statusOf(desktop(), daemon.socket)).calls_under_way === 2)
  daemon.process.kill('SIGSTOP')
  try {
    const codes = [(await through).structured, JSON.parse((await shell).stdout)]
    expect(codes).toMatchObject(
      codes.map(() => ({ code: 'daemon_lost', message: expect.stringMatching(/has not answered .* is unknown/) })),
    )
  } finally {
    daemon.process.kill('SIGCONT')
  }
  await mcp.ask('get_config')
})

test('a daemon that has as many calls to do as it does at once does not count as hung', async () => {
  await using daemon = await serve(desktop())
  await using mcp = await connect(desktop(), '--socket', daemon.socket)
  const timeout_ms = limits.greetingTimeoutMs + 3_000
  const waiting = Array.from({ length: callsAtOnce }, () =>
    mcp.call('wait_for', { condition: 'window', title: 'nowhere', timeout_ms }),
  )
  await until('all calls to run', async () => {
    const { calls_under_way } = await statusOf(desktop(), daemon.socket)
    return calls_under_way === callsAtOnce
  })
  const behind = mcp.call('get_config')
  const codes = (await Promise.all(waiting)).map(({ structured }) => structured.code)
  expect([...new Set(codes)]).toEqual(['condition_not_met'])
  expect((await behind).isError).toBe(false)
})

test('the log of a daemon that a client started stays within its bound', async () => {
  const socket = desktop().path('logged.sock')
  const state = `${desktop().home}/.local/state/backlot`
  mkdirSync(state, { recursive: true })
  const log = `${state}/driver-${desktop().desktop.display.slice(1)}.log`
  writeFileSync(log, 'x'.repeat(3_000_000))
  expect((await desktop().backlot(['get_config', '{}', '--socket', socket])).status).toBe(0)
  expect(lstatSync(log).size).toBeLessThan(1_000_000)
  await desktop().run(driverCommand('stop', '--socket', socket))
})
