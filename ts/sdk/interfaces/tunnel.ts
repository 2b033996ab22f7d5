/** Tunnels into a computer. */
import type { Transport } from '../transports/transport.ts'
import type { TunnelInfo, TunnelOptions, TunnelTarget } from '../transports/tunnels.ts'

/** An open tunnel; disposed, it is closed. */
export interface Tunnel extends TunnelInfo, AsyncDisposable {
  /** Closes it; a second time does nothing. */
  close(): Promise<void>
}

/** Tunnels by their targets, closed together. */
export interface TunnelMap extends ReadonlyMap<TunnelTarget, Tunnel>, AsyncDisposable {
  /** Closes all; a second time does nothing. */
  close(): Promise<void>
}

/** Tunnels from 127.0.0.1 into the sandbox. */
export interface Tunnels {
  /** Opens a tunnel. */
  forward(target: TunnelTarget, options?: TunnelOptions): Promise<Tunnel>
  /** Opens several tunnels at free ports. */
  forward(...targets: readonly [TunnelTarget, TunnelTarget, ...TunnelTarget[]]): Promise<TunnelMap>
}

/** The tunnels behind a transport. */
export const tunnelsOf = (transport: Transport): Tunnels => {
  const open = async (target: TunnelTarget, options?: TunnelOptions): Promise<Tunnel> => {
    const info = await transport.forwardTunnel(target, options)
    const close = once(() => transport.closeTunnel(info))
    return { ...info, close, [Symbol.asyncDispose]: close }
  }
  const several = async (targets: readonly TunnelTarget[]): Promise<TunnelMap> => {
    const opened = await Promise.allSettled(targets.map((target) => open(target)))
    const tunnels = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const failed = opened.find((each) => each.status === 'rejected')
    const close = once(async () => void (await Promise.all(tunnels.map((tunnel) => tunnel.close()))))
    if (failed !== undefined) {
      await close()
      throw failed.reason
    }
    const byTarget = new Map(tunnels.map((tunnel) => [tunnel.sandboxPort, tunnel]))
    return Object.assign(byTarget, { close, [Symbol.asyncDispose]: close })
  }
  const forward = (target: TunnelTarget, next?: TunnelTarget | TunnelOptions, ...others: TunnelTarget[]) =>
    typeof next === 'string' || typeof next === 'number' ? several([target, next, ...others]) : open(target, next)
  return { forward: forward as Tunnels['forward'] }
}

/** Does it once, however often it is asked for. */
const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
