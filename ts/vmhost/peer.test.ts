import { expect, test } from 'bun:test'
import { connect } from 'node:net'
import { mayBeCaller } from './peer.ts'

/** A server of this process, and the ports of a program that called it. */
const called = async (address: string) => {
  const { promise, resolve } = Promise.withResolvers<Bun.Socket>()
  const server = Bun.listen({ hostname: address, port: 0, socket: { open: resolve, data() {} } })
  const client = connect(server.port, address)
  const { remotePort } = await promise
  return {
    connection: { localPort: remotePort, remotePort: server.port },
    leave: () => new Promise<void>((settle) => client.destroy().once('close', () => settle())),
    [Symbol.dispose]: () => server.stop(true),
  }
}

test.each(['127.0.0.1', '::1'])('a caller over %s is told from other processes', async (address) => {
  await using other = Bun.spawn(['sleep', '60'])
  using call = await called(address)
  expect(mayBeCaller([process.pid], call.connection)).toBe(true)
  expect(mayBeCaller([other.pid, process.pid], call.connection)).toBe(true)
  expect(mayBeCaller([other.pid], call.connection)).toBe(false)
  expect(mayBeCaller([], call.connection)).toBe(false)
})

test('one that has left may have been any', async () => {
  await using other = Bun.spawn(['sleep', '60'])
  using call = await called('127.0.0.1')
  await call.leave()
  expect(mayBeCaller([other.pid], call.connection)).toBe(true)
})
