/** Tools run by the daemon, which is started at the first call and again when it died. */
import { Failure } from '@backlot/contract/failure'
import { notBegun } from '../../ending.ts'
import { failed, type ToolResult } from '../../tool/result.ts'
import { type Access, isFull, permittedByBoth } from '../access.ts'
import type { ToolRunner } from '../tool-runner.ts'
import type { Connection } from './connection.ts'
import { type DaemonAddress, reachDaemon, reachRunning, startDeadline } from './launch.ts'

/** Milliseconds in which a daemon says what it permits. */
const listWaitMs = 1_000

/** Calls through one connection to the daemon; its own access comes on top of the daemon's. */
export const daemonRunner = (reach: DaemonAddress, access: Access): ToolRunner => {
  let connecting: Promise<Connection> | undefined
  /** The open connection, or else the one that `open` gives; of several that find it lost, the first opens. */
  const connection = async (open: () => Promise<Connection>): Promise<Connection> => {
    for (;;) {
      const before = connecting
      const current = await before?.catch(() => undefined)
      if (current?.isOpen) return current
      if (connecting === before) {
        connecting = open()
        return connecting
      }
    }
  }
  return {
    async call(name, args, signal) {
      const refused = await refusalOf(access, name, args)
      if (refused !== undefined) return refused
      try {
        const deadline = startDeadline()
        const open = () => connection(() => reachDaemon(reach, reachRunning, deadline))
        return await callThrough(open, deadline, name, args, signal)
      } catch (error) {
        return failed(Failure.from(error))
      }
    },
    async access() {
      try {
        // A list is not kept waiting by a daemon that hangs.
        const found = await Promise.race([connection(() => reachRunning(reach)), Bun.sleep(listWaitMs)])
        return found === undefined ? access : permittedByBoth(access, found.greeting.access)
      } catch {
        return access
      }
    },
    async [Symbol.asyncDispose]() {
      const current = await connecting?.catch(() => undefined)
      current?.close()
    },
  }
}

/** Calls again only what a daemon that ends has not begun. */
const callThrough = async (
  open: () => Promise<Connection>,
  deadline: number,
  name: string,
  args: unknown,
  signal: AbortSignal,
): Promise<ToolResult> => {
  for (;;) {
    const daemon = await open()
    try {
      await daemon.check()
      return signal.aborted ? failed(notBegun()) : await daemon.call(name, args, signal)
    } catch (error) {
      // What it has begun is still answered through the connection to it.
      if (Failure.from(error).code !== 'not_running' || performance.now() > deadline) throw error
    }
  }
}

/** Loads the registry only where something is kept back. */
const refusalOf = async (access: Access, name: string, args: unknown): Promise<ToolResult | undefined> =>
  isFull(access) ? undefined : (await import('../offer.ts')).refusedResult(access, name, args)
