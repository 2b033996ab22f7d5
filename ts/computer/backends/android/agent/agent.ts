/**
 * The agent: a program of ours on the device, which runs as the shell's user while the server needs it and does what no command
 * of Android does (images/android-agent). It is talked to by its standard input and output, which no other program reaches.
 */

import { addAbortListener } from 'node:events'
import { Failure } from '@backlot/contract/failure'
import { Queue } from '@backlot/contract/queue'
import type { Connection } from '../adb/connection.ts'
import { quoted } from '../adb/quote.ts'
import type { AdbDevice } from '../adb/server.ts'
import { nextPacket, packet, sendPacket } from '../adb/shell-packets.ts'
import { DeviceFiles } from '../adb/sync.ts'
import { deviceHome } from '../paths.ts'
import { agentDex } from './dex.ts'
import { type AgentRequest, agentVersion, bytesOfRequest } from './requests.ts'

/** Milliseconds in which the agent answers; a device that starts programs slowly needs seconds for the first answer. */
const mostMs = 30_000

export class DeviceAgent implements AsyncDisposable {
  #started: Promise<Conversation> | undefined
  readonly #requests = new Queue()
  #isClosed = false

  constructor(private readonly device: AdbDevice) {}

  /** Starts it where it does not run. Throws `not_available` where this device has none, which is tried once. */
  async start(): Promise<void> {
    await this.#conversation()
  }

  /** Whether the device has one; it is started by that. */
  runs(): Promise<boolean> {
    return this.start().then(
      () => true,
      () => false,
    )
  }

  /** Asks one thing after the other; gives the answer's body. Throws `not_available`, and `device_failed` with what it says. */
  ask(request: AgentRequest, signal?: AbortSignal): Promise<Buffer> {
    return this.#requests.run(() => this.#ask(request, signal))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const started = await this.#started?.catch(() => undefined)
    started?.[Symbol.dispose]()
    await this.#requests.idle()
  }

  async #ask(request: AgentRequest, signal: AbortSignal | undefined): Promise<Buffer> {
    signal?.throwIfAborted()
    const conversation = await this.#conversation()
    // The answer to a request that is given up would be taken for the next one's.
    using _dropping = signal && addAbortListener(signal, () => conversation[Symbol.dispose]())
    try {
      return await conversation.ask(request)
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  }

  async #conversation(): Promise<Conversation> {
    if (this.#isClosed) throw new Failure('device_failed', 'The computer server ends.')
    // One that ran and has ended is started again; one that never ran is not tried again.
    if ((await this.#started)?.hasEnded) this.#started = undefined
    this.#started ??= begin(this.device)
    // A caller who has not come this far is told by the next one.
    this.#started.catch(() => undefined)
    return this.#started
  }
}

/** Brings the agent to the device and starts it. Throws `not_available` where that fails. */
const begin = async (device: AdbDevice): Promise<Conversation> => {
  const path = `${deviceHome}/.backlot-agent-${crypto.randomUUID()}.dex`
  await new DeviceFiles(device).write(path, 0o444, [Buffer.from(agentDex, 'base64')])
  // The agent removes its file when it starts; where there is none, nobody else would.
  const line = `CLASSPATH=${quoted(path)} app_process / backlot.agent.Main; status=$?; rm -f ${quoted(path)}; exit $status`
  const conversation = new Conversation(await device.open(`shell,v2,raw:${line}`))
  try {
    const version = (await conversation.ask({ ask: 'hello' }))[0]
    if (version !== agentVersion) throw new Error(`it answers version ${version}`)
    return conversation
  } catch (error) {
    conversation[Symbol.dispose]()
    const why = conversation.said || Failure.from(error).message
    throw new Failure('not_available', `The agent does not start on ${device.name}: ${why.slice(0, 500)}`)
  }
}

/** Requests and answers with an agent that runs; disposing of it ends the agent, which lifts its fingers. */
class Conversation implements Disposable {
  #come = Buffer.alloc(0)
  #errors = ''
  #hasEnded = false

  constructor(private readonly connection: Connection) {}

  /** Whether it can be asked nothing more. */
  get hasEnded(): boolean {
    return this.#hasEnded || this.connection.hasEnded
  }

  /** What the agent wrote as its errors. */
  get said(): string {
    return this.#errors.trim()
  }

  /** Throws `device_failed`; after that it has ended, unless the agent itself says what failed. */
  async ask(request: AgentRequest): Promise<Buffer> {
    const late = setTimeout(() => this[Symbol.dispose](), mostMs)
    let answer: Buffer
    try {
      await sendPacket(this.connection, packet.stdin, bytesOfRequest(request))
      answer = await this.#exactly((await this.#exactly(4)).readUInt32BE())
    } catch (error) {
      this[Symbol.dispose]()
      throw error
    } finally {
      clearTimeout(late)
    }
    if (answer[0] === 0) return answer.subarray(1)
    throw new Failure('device_failed', `The device has refused "${request.ask}": ${answer.toString('utf8', 1)}`)
  }

  [Symbol.dispose](): void {
    this.#hasEnded = true
    this.connection[Symbol.dispose]()
  }

  async #exactly(count: number): Promise<Buffer> {
    while (this.#come.byteLength < count) {
      const { id, bytes } = await nextPacket(this.connection)
      if (id === packet.stdout) this.#come = Buffer.concat([this.#come, bytes])
      if (id === packet.stderr) this.#errors = (this.#errors + bytes.toString()).slice(-4_000)
      if (id === packet.exit) throw new Failure('device_failed', `The agent ended with ${bytes[0]}: ${this.said}`)
    }
    const bytes = this.#come.subarray(0, count)
    this.#come = this.#come.subarray(count)
    return bytes
  }
}
