/** Building by layers on a computer server that is there. */
import type { CallOptions, CommandResult, OsType } from '../basics.ts'
import { timeoutOf } from '../deadline.ts'
import type { Layer } from '../image/layer.ts'
import { checkedStep, fitsOs } from '../image/layers.ts'
import { shellOf } from '../interfaces/shell.ts'
import { HTTPTransport } from '../transports/http.ts'
import { builtOsOf, checkStep, layerTimeoutMs, runStep } from './run-step.ts'

/** How a server is called. */
export interface LayerExecutorOptions {
  /** The server's key. @default none */
  apiKey?: string
  /** Milliseconds that a command or a layer may take where its caller says nothing. @default 600_000 */
  timeoutMs?: number
}

/** Builds an image on a computer server; each layer may take `timeoutMs` (600_000). */
export class LayerExecutor {
  readonly #transport: HTTPTransport
  readonly #timeoutMs: number
  #os: OsType | undefined

  /** `baseUrl` is the server's root, such as `http://127.0.0.1:8000`. */
  constructor(baseUrl: string, { apiKey, ...options }: LayerExecutorOptions = {}) {
    this.#timeoutMs = timeoutOf(options, layerTimeoutMs)
    this.#transport = new HTTPTransport(baseUrl, {
      timeoutMs: this.#timeoutMs,
      ...(apiKey !== undefined && { apiKey }),
    })
  }

  /** Runs a command, whose code other than 0 is a result. */
  runCommand(command: string, options?: CallOptions): Promise<CommandResult> {
    return shellOf(this.#transport).run(command, this.#limits(options))
  }

  /** Runs one layer; throws `LayerError`. */
  async executeLayer(layer: Layer, options?: CallOptions): Promise<CommandResult> {
    const [result] = await this.executeLayers([layer], options)
    return result as CommandResult
  }

  /** Runs layers in order, until one throws; one that cannot be run at all throws before any runs. */
  async executeLayers(layers: readonly Layer[], options?: CallOptions): Promise<CommandResult[]> {
    const limits = this.#limits(options)
    this.#os ??= await builtOsOf(this.#transport, limits)
    const os = this.#os
    const checked = layers.map((layer, index) => checkedStep(layer, `layers[${index}].`, os))
    for (const step of checked) {
      fitsOs(step.type, os)
      checkStep(step, os)
    }
    const results: CommandResult[] = []
    for (const [index, step] of checked.entries()) {
      results.push(await runStep(this.#transport, os, step, { ...limits, index }))
    }
    return results
  }

  #limits(options: CallOptions = {}): CallOptions {
    return { ...options, timeoutMs: timeoutOf(options, this.#timeoutMs) }
  }
}
