/** The daemon of a display: holds the driver, and serves its socket until it is told to end or nobody needs it. */
import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Failure } from '@backlot/contract/failure'
import type { Socket } from 'bun'
import type { CallContext } from '../../context.ts'
import { type Driver, openDriver } from '../../driver.ts'
import { recordingsOf } from '../../recording/recordings.ts'
import { offersExtensions } from '../../tool/extensions.ts'
import type { Access } from '../access.ts'
import { checkSocket } from '../folder.ts'
import { callPermitted, describeNamed, listTools } from '../offer.ts'
import type { Greeting, Identity, Status } from '../wire.ts'
import { lockSocket } from './lock.ts'
import { log } from './log.ts'
import { type Service, SocketEdge } from './socket.ts'

/** How a daemon is started. */
export interface DaemonOptions {
  readonly socket: string
  /** Whether the folder is Backlot's own and not one that the person named. */
  readonly isDefaultSocket: boolean
  readonly identity: Identity
  readonly access: Access
  /** Seconds without a connection after which it ends; 0 for never, as when a person started it. */
  readonly idleTimeoutSeconds: number
  /** False: no cursor of an agent is ever shown. */
  readonly overlay: boolean
}

/** Milliseconds that calls have to end once they are told to. */
const endingCallsMs = 2_000

/**
 * Serves until SIGTERM, SIGINT, `shutdown` or the idle time, then leaves nothing behind.
 * `onListening` is told when clients can connect. Throws `already_running` and `socket_refused`.
 */
export const serveDaemon = async (options: DaemonOptions, onListening: () => void): Promise<void> => {
  makeSocketFolder(options.socket, options.isDefaultSocket)
  const lock = await lockSocket(options.socket)
  try {
    checkSocket(options.socket)
    rmSync(options.socket, { force: true })
    await new Daemon(options).run(onListening)
  } finally {
    lock.release()
  }
}

/** Makes the folder of the socket where it is missing (0700), then checks it as `checkSocket` does. */
const makeSocketFolder = (path: string, isDefault: boolean): void => {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  checkSocket(path)
  // The default folder is ours alone; a folder that the person named keeps its mode.
  if (isDefault) chmodSync(folder, 0o700)
}

type Peer = Socket<SocketEdge>

class Daemon implements Service {
  readonly #driver: Promise<Driver>
  readonly #peers = new Set<Peer>()
  readonly #startedAt = new Date()
  readonly #end = Promise.withResolvers<string>()
  #idle: ReturnType<typeof setTimeout> | undefined
  #lastClient = 0
  #calls = 0
  #callsUnderWay = 0

  constructor(private readonly options: DaemonOptions) {
    this.#driver = openDriver({ overlay: options.overlay })
  }

  async run(onListening: () => void): Promise<void> {
    const { socket } = this.options
    const listener = this.#listen()
    const { ino } = lstatSync(socket)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => this.#end.resolve(signal))
    // A defect in one call must not end the calls of others.
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, async (error: unknown) => {
        const { secrets } = await this.#driver
        log(secrets.masked(`defect: ${error instanceof Error ? error.stack : error}`))
      })
    }
    log(`listens on ${socket} (version ${this.options.identity.version}, pid ${process.pid})`)
    onListening()
    this.#watchIdle()
    this.#sweep()
    this.#watchStopKey()
    this.#keepPixels()
    const reason = await this.#end.promise
    log(`ends: ${reason}`)
    clearTimeout(this.#idle)
    listener.stop()
    if (isSame(socket, ino)) rmSync(socket, { force: true })
    await this.#endCalls()
    try {
      await (await this.#driver)[Symbol.asyncDispose]()
    } catch (error) {
      // A display that is lost takes nothing back; all else has been ended all the same.
      log(`not given back: ${Failure.from(error).message}`)
    }
  }

  async call(name: string, args: unknown, context: CallContext) {
    this.#calls += 1
    this.#callsUnderWay += 1
    const called = callPermitted(this.options.access, await this.#driver, name, args, context)
    const result = await called.finally(() => (this.#callsUnderWay -= 1))
    if (result.structuredContent?.code === 'internal') log(`defect in ${name}: ${result.structuredContent.message}`)
    return result
  }

  async list() {
    return listTools(this.options.access, await offersExtensions((await this.#driver).config))
  }

  async describe(name: string) {
    return describeNamed(this.options.access, name, await offersExtensions((await this.#driver).config))
  }

  greet(expect: Identity | undefined): Greeting {
    const { identity, access, socket, idleTimeoutSeconds } = this.options
    const differs = expect === undefined ? [] : differences(identity, expect)
    if (differs.length > 0) {
      throw new Failure(
        'daemon_mismatch',
        `The daemon on "${socket}" does not match: ${differs.join('; ')}. End it with \`backlot-driver stop\`, name another with \`--socket\`, or run with \`--direct\`.`,
        { daemon: identity, caller: expect, replaceable: idleTimeoutSeconds > 0 && !this.#isUsed(1) },
      )
    }
    return { ...identity, pid: process.pid, access }
  }

  async status(): Promise<Status> {
    const { identity, access, socket, idleTimeoutSeconds } = this.options
    const { pauseSwitch, sessions } = await this.#driver
    return {
      ...pauseSwitch.state,
      running: true,
      ...identity,
      pid: process.pid,
      socket,
      started_at: this.#startedAt.toISOString(),
      idle_timeout_s: idleTimeoutSeconds,
      connections: this.#peers.size,
      calls: this.#calls,
      sessions: sessions.active,
      calls_under_way: this.#callsUnderWay,
      read_only: access.readOnly,
      allow: access.allow,
    }
  }

  async pause() {
    const state = (await this.#driver).pauseSwitch.pause('command')
    log('paused')
    return state
  }

  async resume() {
    const state = (await this.#driver).pauseSwitch.resume()
    log('goes on')
    return state
  }

  async beginSession(name: string, client: string) {
    const { sessions } = await this.#driver
    return { session: name, started: sessions.start(name, client).isNew }
  }

  async endSession(name: string) {
    return { session: name, ended: await (await this.#driver).sessions.end(name) }
  }

  disconnected(client: string): void {
    const ended = this.#driver.then((driver) => driver.sessions.disconnected(client))
    ended.catch((error: unknown) =>
      log(`the agent of ${client} stays for the next sweep: ${Failure.from(error).message}`),
    )
  }

  async shutdown(onlyIdle: boolean) {
    const ending = !onlyIdle || (await this.#isIdle(1))
    if (ending) this.#end.resolve('a client asked for it')
    return { ending }
  }

  #listen() {
    // Made with the right mode: between making and changing it, others could connect.
    const mask = process.umask(0o177)
    try {
      const listener = Bun.listen<SocketEdge>({
        unix: this.options.socket,
        allowHalfOpen: true,
        socket: {
          open: (peer) => this.#open(peer),
          data: (peer, bytes) => peer.data.data(bytes),
          drain: (peer) => peer.data.drain(),
          end: (peer) => peer.data.end(),
          close: (peer) => this.#closed(peer),
          error: (peer) => this.#closed(peer),
        },
      })
      chmodSync(this.options.socket, 0o600)
      return listener
    } finally {
      process.umask(mask)
    }
  }

  #open(peer: Peer): void {
    this.#lastClient += 1
    peer.data = new SocketEdge(peer, this, `client-${this.#lastClient}`)
    this.#peers.add(peer)
    clearTimeout(this.#idle)
  }

  #closed(peer: Peer): void {
    peer.data.close()
    this.#peers.delete(peer)
    this.#watchIdle()
  }

  /** Whether others are connected than the `asking` ones, or calls run. */
  #isUsed(asking: number): boolean {
    return this.#peers.size > asking || this.#callsUnderWay > 0
  }

  /** Whether nobody would miss it: what it holds for sessions, recordings and the clipboard ends with it. */
  async #isIdle(asking: number): Promise<boolean> {
    if (this.#isUsed(asking)) return false
    const driver = await this.#driver
    if (driver.sessions.active.length > 0 || recordingsOf(driver).active.length > 0) return false
    return !(await driver.holdsClipboard()) && !this.#isUsed(asking)
  }

  #watchIdle(): void {
    clearTimeout(this.#idle)
    const { idleTimeoutSeconds } = this.options
    if (idleTimeoutSeconds === 0 || this.#peers.size > 0) return
    this.#idle = setTimeout(async () => {
      if (await this.#isIdle(0)) this.#end.resolve(`no connection for ${idleTimeoutSeconds} s`)
      else this.#watchIdle()
    }, idleTimeoutSeconds * 1000)
  }

  /** Takes away what daemons left that were killed; a display without XInput, or none at all, has nothing to sweep. */
  async #sweep(): Promise<void> {
    const { display } = this.options.identity
    if (display === '') return
    try {
      const { sweepAgents } = await (await this.#driver).native()
      const swept = await sweepAgents(display)
      if (swept.length > 0) log(`swept what dead drivers left: ${swept.join(', ')}`)
    } catch (error) {
      log(`nothing swept: ${Failure.from(error).message}`)
    }
  }

  /** From the start, so that the key works before the first action; what keeps it from working, the action says. */
  async #watchStopKey(): Promise<void> {
    await (await this.#driver).watchStopKey().catch((error: unknown) => log(Failure.from(error).message))
  }

  /** From the start: what a window shows below others is kept from then on, and need not be drawn again later. */
  async #keepPixels(): Promise<void> {
    await (await this.#driver).capturer().catch((error: unknown) => log(Failure.from(error).message))
  }

  /** Ends all calls, lets their answers leave, and hangs up. */
  async #endCalls(): Promise<void> {
    const deadline = performance.now() + endingCallsMs
    for (const peer of this.#peers) peer.data.endCalls()
    while (this.#peers.size > 0 && performance.now() < deadline) await Bun.sleep(5)
    for (const peer of this.#peers) peer.terminate()
  }
}

const differences = (own: Identity, expected: Identity): string[] =>
  (['version', 'display', 'bus'] as const)
    // A caller without a display or a bus of its own takes the daemon's.
    .filter((key) => expected[key] !== '' && expected[key] !== own[key])
    .map((key) => `its ${key} is "${own[key]}" and yours is "${expected[key]}"`)

const isSame = (path: string, ino: number): boolean => {
  try {
    return lstatSync(path).ino === ino
  } catch {
    return false
  }
}
