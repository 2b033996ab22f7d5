/** The runtime `emulator`: what it says that it can do; what does it is loaded when it is called. */
import type { CallOptions, Fields } from '../../basics.ts'
import { node } from '../../node.ts'
import type { SandboxOptions, Source } from '../../sandbox/options.ts'
import type { RuntimeCheck, RuntimeFeatures } from '../features.ts'
import { type HeldSandbox, Runtime } from '../runtime.ts'
import type { RuntimeInfo } from '../runtime-info.ts'
import type { EmulatorOptions, Emulators } from './emulators.ts'

/** What it can do where the Android SDK and virtualization are there. */
const features: RuntimeFeatures = {
  os: ['android'],
  kinds: ['vm'],
  isolation: 'vm',
  suspend: 'memory',
  fork: { unsupported: 'A running emulator cannot be copied; start another one.' },
  snapshot: { unsupported: 'This version keeps no snapshots of emulators but that of `suspend`.' },
  pool: { unsupported: 'Emulators are not kept ready; suspend one, and resume it when it is needed.' },
  display: { unsupported: 'The screen of an emulator is shown in a browser by the container of docker/android alone.' },
  tunnel: true,
  mounts: { unsupported: 'Folders of the host are not shared with a device; use `files.upload`.' },
  network: ['internet'],
  resources: ['cpu', 'memoryMb'],
}

/** Emulators of the Android SDK on this machine. */
export class EmulatorRuntime extends Runtime {
  readonly name = 'emulator'
  readonly features = features

  constructor(readonly options: EmulatorOptions = {}) {
    super()
  }

  override settings(): Fields {
    const { sdkRoot, device } = this.options
    return { ...(sdkRoot !== undefined && { sdkRoot }), ...(device !== undefined && { device }) }
  }

  override async check(options: CallOptions = {}): Promise<RuntimeCheck> {
    return (await this.#emulators()).check(options)
  }

  async start(source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    return (await this.#emulators()).start(source, name, options)
  }

  async stop(name: string, options: CallOptions = {}): Promise<void> {
    await (await this.#emulators()).stop(name, options)
  }

  async isReady(info: RuntimeInfo, options: CallOptions = {}): Promise<boolean> {
    return (await this.#emulators()).isReady(info, { timeoutMs: 120_000, ...options })
  }

  async suspend(name: string, options: CallOptions = {}): Promise<void> {
    await (await this.#emulators()).suspend(name, options)
  }

  async resume(_source: Source, name: string, options: SandboxOptions = {}): Promise<RuntimeInfo> {
    return (await this.#emulators()).resume(name, options)
  }

  async list(): Promise<readonly HeldSandbox[]> {
    return (await this.#emulators()).list()
  }

  override async *logs(name: string, options: CallOptions & { follow?: boolean } = {}): AsyncIterable<string> {
    yield* (await this.#emulators()).logs(name, options)
  }

  async #emulators(): Promise<Emulators> {
    const { Emulators } = await node('The runtime "emulator"', () => import('./emulators.ts'))
    return new Emulators(features, this.options, (info) => this.transport(info))
  }
}
