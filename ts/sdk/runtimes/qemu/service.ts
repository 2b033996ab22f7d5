/** The VM host of this user's programs: started when one needs it, and ended by itself once no VM runs and nobody calls. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { environment } from '@backlot/contract/limits'
import { orAborted, pause } from '../../deadline.ts'
import { BacklotError, UnavailableError } from '../../errors.ts'
import { findExecutable } from '../../local/executable.ts'
import { folders } from '../../state/folders.ts'
import { unixAddress } from '../vmhost/address.ts'
import { VmHost } from '../vmhost/host.ts'
import { isTemplate } from '../vmhost/templates.ts'

/** Seconds after which it ends. */
const idleSeconds = 30
/** Milliseconds between two looks at one that starts, and that it may take. */
const pollIntervalMs = 50
const startMs = 30_000
/** Bytes of a socket's path that every system takes. */
const longestSocketPath = 100
/** Characters of its log that an error tells. */
const shownLength = 1_000

/** The host of those VMs that run on `accelerator`. */
export class QemuService {
  /** Its `BACKLOT_HOME`. */
  readonly home: string
  readonly #socket: string

  constructor(readonly accelerator: string | undefined) {
    const { state, runtime } = folders()
    const name = accelerator === undefined ? 'qemu' : `qemu-${accelerator}`
    this.home = join(state, name)
    const usual = join(runtime, `${name}.sock`)
    const short = createHash('sha256').update(usual).digest('hex').slice(0, 16)
    this.#socket = usual.length <= longestSocketPath ? usual : join('/tmp', `backlot-${short}`, 'qemu.sock')
  }

  /** Whether there are VMs of it beside templates, or there may be: one that was never started has none. */
  get hasVms(): boolean {
    const vms = join(this.home, 'data', 'vms')
    return (
      existsSync(vms) && readdirSync(vms).some((name) => !isTemplate(name) && existsSync(join(vms, name, 'vm.json')))
    )
  }

  /** The host, which is started where it does not run. */
  async host(signal: AbortSignal): Promise<VmHost> {
    refuseOthers(join(this.#socket, '..'))
    const host = new VmHost(unixAddress(this.#socket))
    if (await answers(host, signal)) return host
    const program = await findExecutable()
    const deadline = performance.now() + startMs
    while (performance.now() < deadline) {
      // Of two programs that start one, one has the socket, and the other's ends.
      const ended = this.#start(program)
      while (performance.now() < deadline) {
        if (await answers(host, signal)) return host
        const isOver = await Promise.race([ended.then(() => true), pause(pollIntervalMs, signal).then(() => false)])
        if (isOver) break
      }
      if (await answers(host, signal)) return host
      await pause(pollIntervalMs, signal)
    }
    throw new UnavailableError(
      'runtime_unavailable',
      `"${program} serve" does not start: ${this.#lastWords() || 'it said nothing'}. Install a current Backlot, or set BACKLOT_BIN.`,
      { data: { program } },
    )
  }

  /** Starts it apart from this program; settles when it has ended. */
  #start(program: string): Promise<void> {
    mkdirSync(this.home, { recursive: true, mode: 0o700 })
    mkdirSync(join(this.#socket, '..'), { recursive: true, mode: 0o700 })
    refuseOthers(join(this.#socket, '..'))
    this.#shareCache()
    const log = openSync(this.#log, 'w', 0o600)
    const accelerator = this.accelerator === undefined ? [] : ['--accelerator', this.accelerator]
    const words = ['serve', '--listen', `unix:${this.#socket}`, '--idle-seconds', String(idleSeconds), ...accelerator]
    const env = { ...process.env, [environment.home]: this.home, [environment.hostToken]: '' }
    const child = spawn(program, words, { detached: true, stdio: ['ignore', 'ignore', log], env })
    closeSync(log)
    child.unref()
    return new Promise((settle) => child.once('error', () => settle()).once('exit', () => settle()))
  }

  /** Images that were built, pulled or imported by this user are there for its VMs too. */
  #shareCache(): void {
    const { cache } = folders()
    mkdirSync(cache, { recursive: true })
    try {
      symlinkSync(cache, join(this.home, 'cache'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }

  get #log(): string {
    return join(this.home, 'serve.log')
  }

  #lastWords(): string {
    try {
      return readFileSync(this.#log, 'utf8').trim().slice(-shownLength)
    } catch {
      return ''
    }
  }
}

/** Throws `runtime_unavailable` for a folder that another user can put a socket into: in /tmp anybody may have made it. */
const refuseOthers = (folder: string): void => {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found === undefined || (found.isDirectory() && found.uid === process.geteuid?.() && !(found.mode & 0o022))) return
  throw new UnavailableError('runtime_unavailable', `"${folder}" is no folder of this user alone; remove it.`, {
    data: { folder },
  })
}

const answers = async (host: VmHost, signal: AbortSignal): Promise<boolean> => {
  try {
    await orAborted(
      signal,
      host.ask(signal, (client) => client.listOperations()),
    )
    return true
  } catch (error) {
    signal.throwIfAborted()
    if (BacklotError.is(error) && error.code === 'runtime_unavailable') return false
    throw error
  }
}
