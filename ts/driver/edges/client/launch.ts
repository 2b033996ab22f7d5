/** A client's way to its daemon: the one that listens, or a new one. */
import { Failure } from '@backlot/contract/failure'
import { daemon } from '@backlot/contract/limits'
import type { ToolResult } from '../../tool/result.ts'
import { checkSocket } from '../folder.ts'
import type { Identity } from '../wire.ts'
import { type Connection, callOnce, connect } from './connection.ts'

/** How this very executable is started again. */
export interface Program {
  readonly command: readonly [string, ...string[]]
  /** The name under which it is started. */
  readonly argv0: string
}

/** Which daemon, and how to start it. */
export interface DaemonAddress {
  readonly socket: string
  readonly expect: Identity
  /** `backlot-driver`. */
  readonly program: Program
}

/** Milliseconds between two looks whether a daemon that is being started listens. */
const pollIntervalMs = 5

/** Connects to the daemon that listens; throws `not_running` where none does. */
export const reachRunning = async ({ socket, expect }: DaemonAddress): Promise<Connection> => {
  checkSocket(socket)
  return connect(socket, expect)
}

/** One call of the daemon that listens, as `callOnce` says; throws `not_running` where none does. */
export const callRunning = async (
  { socket, expect }: DaemonAddress,
  name: string,
  args: unknown,
): Promise<ToolResult> => {
  checkSocket(socket)
  return callOnce(socket, expect, name, args)
}

/** When a call that arrives now must have reached a daemon, by the clock of `performance`. */
export const startDeadline = (): number => performance.now() + daemon.startTimeoutMs

/**
 * Connects to the daemon, or reaches it by another way that throws as `reachRunning` does, starting it where none
 * listens and replacing an idle one that does not match. After the `deadline` nothing is tried again.
 * Throws `daemon_mismatch` for one that is in use or was started by hand, `daemon_unavailable` where none comes up.
 */
export const reachDaemon = async <Reached>(
  reach: DaemonAddress,
  way: (reach: DaemonAddress) => Promise<Reached>,
  deadline = startDeadline(),
): Promise<Reached> => {
  try {
    return await way(reach)
  } catch (error) {
    const { code, data } = Failure.from(error)
    const isReplaceable = code === 'daemon_mismatch' && data.replaceable === true
    if (code !== 'not_running' && !(isReplaceable && (await retire(reach.socket)))) throw error
  }
  return start(reach, way, deadline)
}

/** Ends a daemon that nobody needs; false where somebody does. */
const retire = async (socket: string): Promise<boolean> => {
  let connection: Connection | undefined
  try {
    connection = await connect(socket)
    const { ending } = (await connection.ask({ method: 'shutdown', only_idle: true })) as { readonly ending?: boolean }
    // One of an earlier version says nothing, and ends.
    return ending !== false
  } catch (error) {
    const { code } = Failure.from(error)
    if (code === 'not_running' || code === 'daemon_lost') return true
    throw error
  } finally {
    connection?.close()
  }
}

const start = async <Reached>(
  reach: DaemonAddress,
  way: (reach: DaemonAddress) => Promise<Reached>,
  deadline: number,
): Promise<Reached> => {
  const { openLog } = await import('../daemon/log.ts')
  const log = openLog(reach.expect.display)
  const { command, argv0 } = reach.program
  const spawn = () => {
    const spawned = Bun.spawn({
      cmd: [...command, 'serve', '--socket', reach.socket, '--idle-timeout-s', String(daemon.idleSeconds)],
      argv0,
      cwd: '/',
      // Of now: the one that the process began with may name another display.
      env: { ...process.env },
      detached: true,
      stdin: 'ignore',
      stdout: log.descriptor,
      stderr: log.descriptor,
    })
    spawned.unref()
    return spawned
  }
  using _ = { [Symbol.dispose]: () => log.close() }
  let child = spawn()
  let last: unknown
  for (;;) {
    try {
      return await way(reach)
    } catch (error) {
      if (Failure.from(error).code !== 'not_running') throw error
      last = error
    }
    if (performance.now() > deadline) break
    // Another client's daemon may have won, in which case ours has ended; where that one has ended too, it is our turn.
    if (child.exitCode !== null) {
      if (child.exitCode !== 0 && !log.saysAlreadyRunning()) break
      child = spawn()
    }
    await Bun.sleep(pollIntervalMs)
  }
  const ended = child.exitCode === null ? '' : ` It ended with status ${child.exitCode}.`
  throw new Failure(
    'daemon_unavailable',
    `The daemon for the socket "${reach.socket}" did not come up.${ended} Read its log "${log.path}", or run with \`--direct\`.`,
    { socket: reach.socket, log: log.path, exit_status: child.exitCode, last: Failure.from(last).message },
  )
}
