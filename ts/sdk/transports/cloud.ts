/** A VM of the cloud. */
import { cloud } from '@backlot/contract/limits'
import type { CallOptions, Fields } from '../basics.ts'
import { type CloudAccess, cloudAccess } from '../cloud/access.ts'
import { checkBaseUrl } from '../configuration.ts'
import { ConnectionError, InvalidArgumentError } from '../errors.ts'
import type { Image } from '../image/image.ts'
import type { Resources } from '../runtimes/features.ts'
import { checkName, newName } from '../sandbox/names/name.ts'
import type { CloudOptions } from '../sandbox/where.ts'
import { type Routes, routes } from './routes.ts'
import { type DisplayUrlOptions, Transport } from './transport.ts'
import type { TunnelInfo, TunnelTarget } from './tunnels.ts'

/** Which VM, of which cloud. */
export type CloudTransportOptions = CloudOptions &
  Resources & { baseUrl?: string } & ({ name: string; image?: never } | { name?: string; image: Image })

/** A VM of the cloud: the one of that name, or a new one of that image. */
export class CloudTransport extends Transport {
  readonly name: string
  readonly #options: CloudTransportOptions
  #isMade: boolean
  #server: Transport | undefined

  constructor(options: CloudTransportOptions) {
    super()
    if (options.image === undefined && options.name === undefined) {
      throw new InvalidArgumentError(
        'invalid_argument',
        'A cloud transport needs the "name" of a VM, or an "image" for a new one.',
      )
    }
    if (options.baseUrl !== undefined) checkBaseUrl(options.baseUrl)
    this.name = options.name === undefined ? newName() : checkName(options.name)
    this.#options = options
    this.#isMade = options.image === undefined
  }

  /** Makes the VM where it is a new one, and waits until it can be used, `timeoutMs` (120_000). */
  async connect(options: CallOptions = {}): Promise<void> {
    if (this.#server !== undefined) return
    const { client, access, vms } = await this.#cloud()
    const { image, region = cloud.region } = this.#options
    if (!this.#isMade && image !== undefined) {
      await vms.requestVm(client, { ...this.#options, name: this.name, image, region }, options)
      this.#isMade = true
    } else {
      const { isReady, statusOf } = await import('../cloud/vm.ts')
      const vm = await client.getVm({ name: this.name }, options)
      if (!isReady(vm) && statusOf(vm) !== 'provisioning') throw vms.notRunning(this.name, vm.status)
    }
    this.#server = await vms.openServer(client, access, this.name, options)
  }

  /** Closes the connection; the VM goes on. */
  async disconnect(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await server?.disconnect()
  }

  /** Deletes the VM. */
  async deleteVm(options: CallOptions = {}): Promise<void> {
    const { client, vms } = await this.#cloud()
    await this.disconnect()
    await vms.deleteVm(client, this.name, false, options)
  }

  /** Stops the VM and saves it. */
  async suspendVm(options: CallOptions = {}): Promise<void> {
    const { client, vms } = await this.#cloud()
    await this.disconnect()
    await vms.stopVm(client, this.name, options)
  }

  /** Continues the VM, and connects to it. */
  async resumeVm(options: CallOptions = {}): Promise<void> {
    const { client, access, vms } = await this.#cloud()
    await client.runVm({ name: this.name }, options)
    this.#server ??= await vms.openServer(client, access, this.name, options)
  }

  /** Suspends and resumes the VM, and connects to it. */
  async restartVm(options: CallOptions = {}): Promise<void> {
    const { client, access, vms } = await this.#cloud()
    await this.disconnect()
    await client.restartVm({ name: this.name }, options)
    this.#server = await vms.openServer(client, access, this.name, options)
  }

  override async getDisplayUrl(options: DisplayUrlOptions = {}): Promise<string> {
    const { client, access } = await this.#cloud()
    const { displayOf } = await import('../cloud/vm.ts')
    return displayOf(await client.getVm({ name: this.name }, options), access.baseUrl, options)
  }

  override forwardTunnel(target: TunnelTarget, options?: CallOptions): Promise<TunnelInfo> {
    return this.#connected().forwardTunnel(target, options)
  }

  override closeTunnel(info: TunnelInfo): Promise<void> {
    return this.#connected().closeTunnel(info)
  }

  override get [routes](): Routes | undefined {
    return this.#server?.[routes]
  }

  protected async request(action: string, params: Fields, options?: CallOptions): Promise<Fields> {
    return this.#connected().send(action, params, options)
  }

  #connected(): Transport {
    if (this.#server !== undefined) return this.#server
    const text = `There is no connection to the sandbox "${this.name}". Call \`connect()\` first.`
    throw new ConnectionError('connection_lost', text, { data: { name: this.name } })
  }

  async #cloud() {
    const [{ cloudClient }, vms] = await Promise.all([import('../cloud/client.ts'), import('../cloud/vms.ts')])
    const access: CloudAccess = await cloudAccess(this.#options)
    return { access, client: cloudClient(access), vms }
  }
}
