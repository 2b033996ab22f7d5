import { expect, test } from 'bun:test'
import { Transport } from '../transports/transport.ts'
import type { TunnelInfo, TunnelTarget } from '../transports/tunnels.ts'
import { tunnelsOf } from './tunnel.ts'

/** Opens tunnels to nothing, and notes those that are open; one target cannot be had. */
class Noting extends Transport {
  readonly open = new Set<TunnelTarget>()
  async connect() {}
  async disconnect() {}
  protected async request() {
    return {}
  }
  override async forwardTunnel(sandboxPort: TunnelTarget): Promise<TunnelInfo> {
    if (sandboxPort === 1) throw new Error('not that one')
    this.open.add(sandboxPort)
    return { host: '127.0.0.1', port: 5, sandboxPort, url: 'http://127.0.0.1:5' }
  }
  override async closeTunnel({ sandboxPort }: TunnelInfo) {
    this.open.delete(sandboxPort)
  }
}

test('one target gives a tunnel, several a map of them, which end with their scope', async () => {
  const transport = new Noting()
  const tunnels = tunnelsOf(transport)
  {
    await using one = await tunnels.forward(80, { wait: true })
    expect(one).toMatchObject({ host: '127.0.0.1', port: 5, sandboxPort: 80, url: 'http://127.0.0.1:5' })
    await using several = await tunnels.forward(443, 'a-socket')
    expect([...several.keys()]).toEqual([443, 'a-socket'])
    expect([...transport.open]).toEqual([80, 443, 'a-socket'])
    await several.close()
    await several.close()
    expect([...transport.open]).toEqual([80])
  }
  expect(transport.open.size).toBe(0)
})

test('of several none stays open where one cannot be had', async () => {
  const transport = new Noting()
  await expect(tunnelsOf(transport).forward(80, 1)).rejects.toThrow('not that one')
  expect(transport.open.size).toBe(0)
})
