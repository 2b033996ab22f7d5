/** A computer server that is there already: it is used, and nothing else about it is ours. */
import type { CallOptions } from '../basics.ts'
import { UnsupportedError } from '../errors.ts'
import { displayUrlOf } from '../interfaces/display.ts'
import { HTTPTransport } from '../transports/http.ts'
import type { DisplayUrlOptions, Transport } from '../transports/transport.ts'
import { WebSocketTransport } from '../transports/websocket/websocket.ts'
import type { SandboxInfo } from './options.ts'
import type { ConnectedSandbox, Provider, SandboxReference } from './provider.ts'
import type { Address } from './where.ts'

/** What is at an address. */
export class AddressProvider implements Provider {
  #transport: Transport | undefined

  constructor(readonly address: Address) {}

  async connect(name: string, options: CallOptions): Promise<ConnectedSandbox> {
    const transport = transportTo(this.address)
    await transport.connect(options)
    this.#transport = transport
    return { name, source: 'address', id: null, ephemeral: false, isAndroid: undefined, transport, provider: this }
  }

  /** What it says it is; throws where it does not answer. */
  async getInfo({ name }: SandboxReference, options: CallOptions): Promise<SandboxInfo> {
    const environment = await this.#transport?.getEnvironment(options)
    const { httpUrl, wsUrl } = this.address as { httpUrl?: string; wsUrl?: string }
    const url = httpUrl ?? wsUrl
    return {
      name,
      status: 'running',
      source: 'address',
      osType: environment === undefined || environment === 'browser' ? null : osTypes[environment],
      host: url === undefined ? null : new URL(url).hostname,
      vncUrl: null,
      apiUrl: url ?? null,
      createdAt: null,
      expiresAt: null,
      ephemeral: false,
      isolation: null,
      labels: {},
      warnings: [],
    }
  }

  getDisplayUrl({ transport }: ConnectedSandbox, options: DisplayUrlOptions): Promise<string> {
    return displayUrlOf(transport, options)
  }

  async release(): Promise<void> {}

  create = refuse
  list = refuse
  suspend = refuse
  resume = refuse
  restart = refuse
  delete = refuse
  fork = refuse
  snapshot = refuse
  restore = refuse
  keep = refuse
  setTtl = refuse
  logs = (): never => {
    throw refusal()
  }
}

const osTypes = { linux: 'linux', mac: 'macos', windows: 'windows' } as const

const refusal = (): UnsupportedError =>
  new UnsupportedError(
    'It was connected to by address, so that only who started it can do that. Connect by name, or ask them.',
  )

const refuse = async (): Promise<never> => {
  throw refusal()
}

const transportTo = (address: Address): Transport => {
  if (address.transport !== undefined) return address.transport
  const { apiKey, containerName } = address
  const options = { ...(apiKey !== undefined && { apiKey }), ...(containerName !== undefined && { containerName }) }
  return address.httpUrl === undefined
    ? new WebSocketTransport(address.wsUrl, options)
    : new HTTPTransport(address.httpUrl, options)
}
