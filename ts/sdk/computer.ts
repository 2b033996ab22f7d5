/** A computer to see and to operate. */
import { toBase64 } from './base64.ts'
import type { Bytes, CallOptions, Environment, Size } from './basics.ts'
import { timeoutOf, withDeadline } from './deadline.ts'
import { TimeoutError } from './errors.ts'
import { type Clipboard, clipboardOf } from './interfaces/clipboard.ts'
import { type Files, filesOf } from './interfaces/files.ts'
import { type Films, filmsOf } from './interfaces/film.ts'
import { type Keyboard, keyboardOf } from './interfaces/keyboard.ts'
import { type Mouse, mouseOf } from './interfaces/mouse.ts'
import { routesFor } from './interfaces/need-routes.ts'
import { type Screen, screenOf } from './interfaces/screen.ts'
import { type Shell, shellOf } from './interfaces/shell.ts'
import { type Terminals, terminalsOf } from './interfaces/terminal.ts'
import { type Windows, windowsOf } from './interfaces/windows.ts'
import type { ScreenshotOptions } from './picture.ts'
import type { Transport } from './transports/transport.ts'

/** How an application is started. */
export interface LaunchOptions extends CallOptions {
  /** What it is given. @default [] */
  args?: readonly string[]
}

/** Milliseconds beyond its limit in which a server tells what did not happen. */
const tellingMs = 2_000

/** Seconds of the longest wait that a server keeps. */
const longestWaitSeconds = 3_600

/** A computer to see and to operate: a `Sandbox`, or the `Localhost`. */
export abstract class Computer implements AsyncDisposable {
  readonly screen: Screen
  readonly mouse: Mouse
  readonly keyboard: Keyboard
  readonly clipboard: Clipboard
  readonly shell: Shell
  readonly window: Windows
  readonly terminal: Terminals
  readonly files: Files
  readonly film: Films
  /** The connection, for commands that no method names. */
  readonly transport: Transport

  protected constructor(transport: Transport) {
    this.transport = transport
    this.screen = screenOf(transport)
    this.mouse = mouseOf(transport)
    this.keyboard = keyboardOf(transport)
    this.clipboard = clipboardOf(transport)
    this.shell = shellOf(transport)
    this.window = windowsOf(transport)
    this.terminal = terminalsOf(transport)
    this.files = filesOf(transport)
    this.film = filmsOf(transport)
  }

  /** A picture of the screen; `text` is accepted and changes nothing. */
  screenshot(options?: ScreenshotOptions & { text?: string }): Promise<Bytes> {
    return this.transport.screenshot(options)
  }

  /** A picture of the screen in base64; `text` is accepted and changes nothing. */
  async screenshotBase64(options?: ScreenshotOptions & { text?: string }): Promise<string> {
    return toBase64(await this.screenshot(options))
  }

  /** What it says it is. */
  getEnvironment(options?: CallOptions): Promise<Environment> {
    return this.transport.getEnvironment(options)
  }

  /** The size of the screen. */
  getDimensions(options?: CallOptions): Promise<Size> {
    return this.transport.getScreenSize(options)
  }

  /**
   * Starts an application by name, path or Android package and waits for its window; throws `app_not_found`, and `not_ready`
   * where none comes in `timeoutMs` (30_000).
   */
  async launch(app: string, options: LaunchOptions = {}): Promise<{ readonly pid: number }> {
    const timeoutMs = timeoutOf(options)
    const wait = Math.min(timeoutMs / 1_000, longestWaitSeconds)
    // The server tells that no window came; it is waited for a little longer.
    const limits = { ...options, timeoutMs: timeoutMs + tellingMs }
    const params = { app, args: [...(options.args ?? [])], wait }
    const { pid, window_id, running } = await this.transport.send('launch', params, limits)
    if (window_id !== null || !running) return { pid }
    throw new TimeoutError('not_ready', `"${app}" runs as process ${pid} and showed no window in ${timeoutMs} ms.`, {
      data: { pid },
    })
  }

  /** Opens a file or an address with the application that is set for it. */
  async open(target: string, options?: CallOptions): Promise<void> {
    await this.transport.send('open', { target }, options)
  }

  /** Its tools as an MCP server (streamable HTTP), for an agent. */
  async getMcpServer(
    options?: CallOptions,
  ): Promise<{ readonly url: string; readonly headers: Readonly<Record<string, string>> }> {
    const routes = routesFor(this.transport, 'The MCP server')
    const { url, headers } = await withDeadline(options, 'The MCP server', (signal) => routes.address(signal))
    return { url: `${url}/mcp`, headers }
  }

  /** Drops the connection and nothing else; a second time does nothing. */
  disconnect(): Promise<void> {
    return this.transport.disconnect()
  }

  /** Disconnects. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect()
  }
}
