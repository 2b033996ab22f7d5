import { expect, test } from 'bun:test'
import { createServer } from 'node:net'
import { reachable } from './ports.ts'

const uuid = '00000000-0000-4000-8000-00000000abcd'

const squat = async (host: string, port: number) => {
  const server = createServer()
  await new Promise<void>((settle) => server.listen(port, host, settle))
  return server
}

test('a VM has the same address each time, and its ports keep their numbers there', async () => {
  const first = await reachable(uuid, [8000, 5900], 0)
  expect(await reachable(uuid, [8000, 5900], 0)).toEqual(first)
  expect(first.address).toMatch(/^127\.77\.\d{1,3}\.([1-9]|[1-9]\d|1\d\d|2[0-4]\d|25[0-4])$/)
  expect(first.forwards).toEqual([8000, 5900].map((port) => ({ guestPort: port, address: first.address, port })))
  expect((await reachable(uuid, [8000], 1)).address).not.toBe(first.address)
})

test('where a port is taken it moves to another address', async () => {
  const { address } = await reachable(uuid, [8000], 0)
  const server = await squat(address, 8000)
  const moved = await reachable(uuid, [8000], 0)
  expect(moved.address).not.toBe(address)
  expect(moved.forwards[0]?.port).toBe(8000)
  server.close()
})

test('a port that only root may open gets another number when it must', async () => {
  const { address } = await reachable(uuid, [22, 8000], 0)
  const server = await squat(address, 22).catch(() => undefined)
  const { address: same, forwards } = await reachable(uuid, [22, 8000], 0)
  expect(same).toBe(address)
  expect(forwards.map(({ guestPort }) => guestPort)).toEqual([22, 8000])
  expect(forwards[0]?.port).not.toBe(22)
  server?.close()
})
