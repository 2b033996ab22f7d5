/** The runtime `emulator`: emulators of the Android SDK on this machine, each with a computer server. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import type { CallOptions } from '../../basics.ts'
import { buildImage } from '../../build/build-image.ts'
import { appToolPackages, findAppTools } from '../../build/web-app/app-tools.ts'
import { pause, withDeadline } from '../../deadline.ts'
import { BacklotError, ConnectionError, NotFoundError, TimeoutError, UnsupportedError } from '../../errors.ts'
import type { Image } from '../../image/image.ts'
import { findExecutable } from '../../local/executable.ts'
import { isImage } from '../../sandbox/checks.ts'
import type { SandboxOptions, Source } from '../../sandbox/options.ts'
import { tryLock } from '../../state/lock.ts'
import type { Transport } from '../../transports/transport.ts'
import { unavailable } from '../absent.ts'
import type { RuntimeCheck, RuntimeFeatures } from '../features.ts'
import type { HeldSandbox } from '../runtime.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import { type AndroidSdk, checkAcceleration, findSdk, imageFor, installMissing, sdkVariables } from './android-sdk.ts'
import {
  DeviceFolder,
  deviceFolders,
  deviceName,
  portsLock,
  type StartedEmulator,
  suspendedSnapshot,
} from './device-folder.ts'
import { endProcess, endsWithin, firstLine, freePorts, startDetached } from './processes.ts'
import { finish, lastLines } from './programs.ts'

/** What a program chooses; see `runtimes.emulator`. */
export interface EmulatorOptions {
  readonly sdkRoot?: string
  readonly device?: string
  readonly acceptLicenses?: boolean
}

/** Milliseconds between two looks at a device that boots. */
const pollIntervalMs = 200

/** Milliseconds that the computer server of one that runs has to say whether it is ready. */
const answersWithinMs = 1_000

/** Milliseconds that an emulator has to end after it was asked to. */
const endingMs = 10_000

/** Milliseconds that a boot may take where nobody says: the first one of a device is slow. */
const bootMs = 600_000

/** The verbs of the runtime. */
export class Emulators {
  constructor(
    private readonly features: RuntimeFeatures,
    private readonly options: EmulatorOptions,
    private readonly transport: (info: RuntimeInfo) => Transport,
  ) {}

  async check({ signal }: CallOptions): Promise<RuntimeCheck> {
    const sdk = findSdk(this.options.sdkRoot)
    if ('reason' in sdk) return { available: false, ...sdk }
    const quick = await checkAcceleration(sdk, signal)
    return quick === true ? { available: true, features: this.features } : { available: false, ...quick }
  }

  async start(source: Source, name: string, options: SandboxOptions): Promise<RuntimeInfo> {
    if (!isImage(source)) throw new UnsupportedError('An emulator starts from an image, such as `Image.android()`.')
    const image = source as Image
    const { signal, onProgress } = options
    const sdk = this.#sdk()
    const system = imageFor(sdk, image.version)
    const { layers, env = {}, files = [] } = image.toDict()
    const needsAppTools = layers.some(({ type }) => type === 'pwa_install') && 'reason' in findAppTools(sdk.root)
    const appTools = needsAppTools ? appToolPackages : []
    await installMissing(sdk, ['emulator', 'platform-tools', system, ...appTools], {
      acceptLicenses: this.options.acceptLicenses ?? false,
      signal,
      onInstall: (what) => onProgress?.({ phase: 'boot', message: `Installing ${what}.`, percent: null }),
    })
    const folder = new DeviceFolder(name)
    await folder.make(randomBytes(32).toString('base64url'))
    await this.#makeDevice(sdk, folder, system, signal)
    onProgress?.({ phase: 'boot', message: 'The emulator boots.', percent: null })
    const info = await this.#run(sdk, folder, { ...options, words: ['-no-snapshot-load'] })
    if (layers.length + Object.keys(env).length + files.length === 0) return info
    if (!(await this.isReady(info, { timeoutMs: bootMs, ...options }))) return info
    await buildImage(this.transport(info), image, {
      ...(signal && { signal }),
      androidSdk: sdk.root,
      onLayer: (at) => onProgress?.({ phase: 'layer', ...at }),
      onNote: (message) => onProgress?.({ phase: 'note', message }),
    })
    return info
  }

  async stop(name: string, _options: CallOptions): Promise<void> {
    const folder = new DeviceFolder(name)
    if (!folder.exists()) return
    await this.#end(folder)
    await folder.remove()
  }

  async isReady(info: RuntimeInfo, options: CallOptions): Promise<boolean> {
    const folder = new DeviceFolder(info.name ?? '')
    try {
      return await withDeadline(options, 'The boot of the emulator', async (signal) => {
        for (;;) {
          if (!(await folder.isRunning())) throw await ended(folder)
          if (await isReadyNow(folder, info, signal)) return true
          await pause(pollIntervalMs, signal)
        }
      })
    } catch (error) {
      if (BacklotError.is(error) && error instanceof TimeoutError) return false
      throw error
    }
  }

  async suspend(name: string, { signal }: CallOptions): Promise<void> {
    const sdk = this.#sdk()
    const folder = await existing(name)
    const started = await folder.started()
    if (started === undefined || !(await folder.isRunning())) {
      throw new NotFoundError(
        'sandbox_not_found',
        `The emulator of "${name}" does not run, so nothing of it can be saved.`,
      )
    }
    await ask(sdk, started, ['avd', 'snapshot', 'save', suspendedSnapshot], signal)
    await this.#end(folder)
    await folder.markSuspended(true)
  }

  async resume(name: string, options: SandboxOptions): Promise<RuntimeInfo> {
    const sdk = this.#sdk()
    const folder = await existing(name)
    if (await folder.isRunning()) return infoOf(folder, await folder.started())
    const wasSuspended = folder.isSuspended()
    const words = wasSuspended ? ['-snapshot', suspendedSnapshot] : ['-no-snapshot-load']
    const info = await this.#run(sdk, folder, { ...options, words })
    if (wasSuspended) await this.isReady(info, { timeoutMs: bootMs, ...options })
    return info
  }

  async list(): Promise<readonly HeldSandbox[]> {
    const found = await deviceFolders()
    return Promise.all(
      found.map(async (folder) => {
        const isRunning = await folder.isRunning()
        // Whoever resumed it may have waited for less than it took.
        if (isRunning && folder.isSuspended())
          await isReadyNow(folder, await infoOf(folder, await folder.started()), AbortSignal.timeout(answersWithinMs))
        return {
          name: folder.name,
          status: isRunning ? 'running' : folder.isSuspended() ? 'suspended' : 'stopped',
        } as const
      }),
    )
  }

  async *logs(name: string, { follow = false, signal }: CallOptions & { follow?: boolean }): AsyncIterable<string> {
    const folder = await existing(name)
    const told = { emulator: 0, computer: 0 }
    do {
      for (const what of ['emulator', 'computer'] as const) {
        const lines = (await readFile(folder.log(what), 'utf8').catch(() => '')).split('\n').slice(0, -1)
        yield* lines.slice(told[what]).map((line) => `${what}: ${line}`)
        told[what] = lines.length
      }
      if (follow) await pause(pollIntervalMs, signal ?? new AbortController().signal)
    } while (follow)
  }

  #sdk(): AndroidSdk {
    const sdk = findSdk(this.options.sdkRoot)
    if ('reason' in sdk) throw unavailable('emulator', sdk)
    return sdk
  }

  async #makeDevice(
    sdk: AndroidSdk,
    folder: DeviceFolder,
    system: string,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const profile = this.options.device === undefined ? [] : ['--device', this.options.device]
    const made = await finish(
      [sdk.avdmanager, 'create', 'avd', '--force', '--name', deviceName, '--package', system, ...profile],
      // It asks whether to choose a profile of its own.
      { env: { ...sdkVariables(sdk), ANDROID_AVD_HOME: folder.avds }, input: 'no\n', signal },
    )
    if (made.status === 0) return
    throw unavailable('emulator', {
      reason: `avdmanager makes no device of ${system}: ${lastLines(made.output)}.`,
      remedy: 'Its command `list device` names the profiles that `device` takes.',
    })
  }

  /** Starts the emulator and its computer server. */
  async #run(
    sdk: AndroidSdk,
    folder: DeviceFolder,
    { words, cpu, memoryMb, signal = new AbortController().signal }: SandboxOptions & { words: readonly string[] },
  ): Promise<RuntimeInfo> {
    const env = { ...sdkVariables(sdk), ANDROID_AVD_HOME: folder.avds }
    const server = await finish([sdk.adb, 'start-server'], { env, signal })
    if (server.status !== 0)
      throw new ConnectionError('unreachable', `No adb server starts: ${lastLines(server.output)}.`)
    const sizes = [cpu && ['-cores', String(cpu)], memoryMb && ['-memory', String(memoryMb)]].flatMap(
      (each) => each || [],
    )
    const usual = ['-no-window', '-no-audio', '-no-boot-anim', '-no-snapshot-save', '-gpu', 'swiftshader_indirect']
    const log = folder.log('emulator')
    const begun = await withPorts(signal, async (taken) => {
      const port = await freePorts(taken)
      const command = [sdk.emulator, '-avd', deviceName, '-port', String(port), ...usual, ...sizes, ...words] as const
      const emulator = await startDetached([...command], { env, stdout: log, stderr: log })
      const started: StartedEmulator = { port, emulator, server: null, apiPort: null }
      await folder.write(started)
      return started
    })
    const address = `${folder.path}/address`
    await rm(address, { force: true })
    const computer = await startDetached(
      [
        await findExecutable(),
        ...['computer', '--android', '--serial', `emulator-${begun.port}`, '--port', '0', '--key-file', folder.keyFile],
      ],
      { env, stdout: address, stderr: folder.log('computer') },
    )
    await folder.write({ ...begun, server: computer })
    const url = await firstLine(address, computer, folder.log('computer'), signal)
    const started = { ...begun, server: computer, apiPort: Number(new URL(url).port) }
    await folder.write(started)
    return infoOf(folder, started)
  }

  /** Ends both processes; the emulator is asked by its console, so that the device's disk is whole. */
  async #end(folder: DeviceFolder): Promise<void> {
    const started = await folder.started()
    if (started === undefined) return
    await endProcess(started.server, endingMs)
    if (started.emulator === null || !(await folder.isRunning())) return
    const sdk = findSdk(this.options.sdkRoot)
    if (!('reason' in sdk) && existsSync(sdk.adb)) {
      await ask(sdk, started, ['kill'], undefined).catch(() => undefined)
      if (await endsWithin(started.emulator, endingMs)) return
    }
    await endProcess(started.emulator, endingMs)
  }
}

/** Asks the console of an emulator. Throws `unreachable` with what it answers otherwise than by OK. */
const ask = async (
  sdk: AndroidSdk,
  { port }: StartedEmulator,
  words: readonly string[],
  signal: AbortSignal | undefined,
) => {
  const { output } = await finish([sdk.adb, '-s', `emulator-${port}`, 'emu', ...words], {
    env: sdkVariables(sdk),
    signal,
  })
  if (/^OK/m.test(output) && !/^KO/m.test(output)) return
  throw new ConnectionError(
    'unreachable',
    `The emulator answers "${words.join(' ')}" with: ${lastLines(output) || 'nothing'}.`,
  )
}

/** Does what chooses ports, alone among all programs; it is given those of emulators that run. */
const withPorts = async <T>(signal: AbortSignal, work: (taken: ReadonlySet<number>) => Promise<T>): Promise<T> => {
  let lock = await tryLock(portsLock())
  while (lock === undefined) {
    await pause(pollIntervalMs, signal)
    lock = await tryLock(portsLock())
  }
  try {
    const taken = new Set<number>()
    for (const folder of await deviceFolders()) {
      const port = (await folder.isRunning()) ? (await folder.started())?.port : undefined
      if (port !== undefined) taken.add(port)
    }
    return await work(taken)
  } finally {
    await lock.release()
  }
}

/** Whether the device can be used; what it does from then on is not in what was saved of it. */
const isReadyNow = async (folder: DeviceFolder, info: RuntimeInfo, signal: AbortSignal): Promise<boolean> => {
  const headers = { 'X-API-Key': info.apiKey ?? '' }
  const url = `http://${info.host}:${info.apiPort}/status`
  const answer = await fetch(url, { headers, signal }).catch(() => undefined)
  const status = (await answer?.json().catch(() => undefined)) as { phase?: unknown } | undefined
  if (status?.phase !== 'ready') return false
  if (folder.isSuspended()) await folder.markSuspended(false)
  return true
}

const existing = async (name: string): Promise<DeviceFolder> => {
  const folder = new DeviceFolder(name)
  if (folder.exists()) return folder
  throw new NotFoundError(
    'sandbox_not_found',
    `There is no emulator of the sandbox "${name}". \`Sandbox.list()\` names those there are.`,
  )
}

const infoOf = async (folder: DeviceFolder, started: StartedEmulator | undefined): Promise<RuntimeInfo> => ({
  host: '127.0.0.1',
  apiPort: started?.apiPort ?? 0,
  apiKey: await folder.key(),
  guestServerPort: 8_000,
  name: folder.name,
  environment: 'linux',
})

const ended = async (folder: DeviceFolder): Promise<ConnectionError> => {
  const said = lastLines(await readFile(folder.log('emulator'), 'utf8').catch(() => ''))
  return new ConnectionError('unreachable', `The emulator ended: ${said || 'it wrote nothing'}.`)
}
