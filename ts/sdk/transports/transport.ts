/** A way to a computer server. */
import { fieldsOf } from '../answer.ts'
import { fromBase64 } from '../base64.ts'
import type { Bytes, CallOptions, Environment, Fields, Size } from '../basics.ts'
import { timeoutOf, withDeadline } from '../deadline.ts'
import { ConnectionError, UnsupportedError } from '../errors.ts'
import { pictureParams, type ScreenshotOptions, savePicture } from '../picture.ts'
import type { Commands } from './commands.ts'
import { type Routes, routes } from './routes.ts'
import { type TunnelInfo, TunnelSet, type TunnelTarget } from './tunnels.ts'

/** Which address of the live screen is wanted. */
export interface DisplayUrlOptions extends CallOptions {
  /** A public address with the credentials in it. @default false */
  share?: boolean
  /** Looking on without acting; where the server asks for no key, only its page keeps to that. @default false */
  viewOnly?: boolean
}

/** A way to a computer server; extend it to bring your own, by three methods. */
export abstract class Transport implements AsyncDisposable {
  #tunnels: TunnelSet | undefined

  /** Opens it. */
  abstract connect(options?: CallOptions): Promise<void>

  /** Closes it; a second time does nothing. */
  abstract disconnect(): Promise<void>

  /** Carries one command and gives what the server answered; `send` checks and names what comes back. */
  protected abstract request(action: string, params: Fields, options?: CallOptions): Promise<Fields>

  /** Milliseconds that a command may take where its caller says nothing. */
  protected get usualTimeoutMs(): number | undefined {
    return undefined
  }

  /** Sends a command that the contract names. */
  send<Name extends keyof Commands>(
    action: Name,
    params?: Commands[Name]['params'],
    options?: CallOptions,
  ): Promise<Commands[Name]['result']>
  /** Sends any command. */
  send(action: string, params?: Fields, options?: CallOptions): Promise<Fields>
  async send(action: string, params: Fields = {}, options?: CallOptions): Promise<Fields> {
    const timeoutMs = timeoutOf(options, this.usualTimeoutMs)
    const answer: unknown = await withDeadline(
      options,
      `"${action}"`,
      (signal) => this.request(action, params, { signal, timeoutMs }),
      timeoutMs,
    )
    if (typeof answer === 'object' && answer !== null) return fieldsOf(answer as Fields)
    throw new ConnectionError('invalid_response', `The answer to "${action}" is no object.`, { data: { action } })
  }

  /** A picture of the screen. */
  async screenshot(options?: ScreenshotOptions): Promise<Bytes> {
    const { image_data } = await this.send('screenshot', pictureParams(options), options)
    const picture = fromBase64(image_data)
    await savePicture(picture, options?.path)
    return picture
  }

  /** The size of the screen. */
  async getScreenSize(options?: CallOptions): Promise<Size> {
    return (await this.send('get_screen_size', {}, options)).size
  }

  /** What the computer says it is. */
  async getEnvironment(options?: CallOptions): Promise<Environment> {
    const { environment } = await this.send('get_environment', {}, options)
    return environment === 'android' ? 'linux' : environment
  }

  /** Leads a free port of 127.0.0.1 into the computer; throws `unsupported` for a way that carries commands alone. */
  async forwardTunnel(sandboxPort: TunnelTarget, options?: CallOptions): Promise<TunnelInfo> {
    const way = this[routes]
    if (way === undefined) {
      throw new UnsupportedError(
        `This transport carries commands alone, so that no tunnel leads to "${sandboxPort}"; connect by HTTP or WebSocket.`,
      )
    }
    if (typeof sandboxPort === 'string') await this.#needAndroid(sandboxPort, options)
    this.#tunnels ??= new TunnelSet(way)
    return this.#tunnels.forward(sandboxPort, options)
  }

  async #needAndroid(socket: string, options?: CallOptions): Promise<void> {
    if ((await this.send('get_environment', {}, options)).environment === 'android') return
    throw new UnsupportedError(
      `"${socket}" names a socket, which Android alone has; give the number of a TCP port instead.`,
    )
  }

  /** Closes one; a second time does nothing. */
  async closeTunnel(info: TunnelInfo): Promise<void> {
    await this.#tunnels?.close(info)
  }

  /** Closes those that are open; for `disconnect`. */
  protected async closeTunnels(): Promise<void> {
    await this.#tunnels?.closeAll()
  }

  /** Throws `unsupported` unless overridden. */
  async getDisplayUrl(_options?: DisplayUrlOptions): Promise<string> {
    throw new UnsupportedError(
      'This transport exposes no display; take the address of the screen from what started the computer.',
    )
  }

  /** A way to what the server serves beside its commands, where there is one. */
  get [routes](): Routes | undefined {
    return undefined
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect()
  }
}
