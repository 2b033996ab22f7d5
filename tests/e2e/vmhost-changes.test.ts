/** Changes of a VM are made all or not at all. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../support/scratch.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, checkDisk, create, get, run } from '../support/vms.ts'

const GiB = 2 ** 30
let host: VmHost

beforeAll(async () => {
  host = await startVmHost()
})

afterAll(() => host[Symbol.asyncDispose]())

test('a location whose VMs run is neither removed nor left for another home', async () => {
  const elsewhere = scratchFolder('elsewhere')
  expect((await call(host, 'POST', '/svc/config/locations', { name: 'nas', path: elsewhere }))[0]).toBe(200)
  for (const storage of ['home', 'nas']) {
    await create(host, 'alive', { storage })
    await run(host, 'alive', { storage }, `?storage=${storage}`)
    const [method, path, body] =
      storage === 'nas'
        ? (['DELETE', '/svc/config/locations/nas', undefined] as const)
        : (['POST', '/svc/config', { homeDirectory: join(elsewhere, 'home') }] as const)
    const refusal = expect.objectContaining({ code: 'location_in_use', vm: 'alive' })
    expect(await call(host, method, path, body)).toEqual([400, refusal])
    expect((await get(host, 'alive', `?storage=${storage}`)).status).toBe('running')
    expect((await call(host, 'POST', '/svc/vms/alive/stop', { storage, graceSeconds: 0 }))[0]).toBe(200)
    expect((await call(host, 'DELETE', `/svc/vms/alive?storage=${storage}`))[0]).toBe(200)
  }
  expect((await call(host, 'DELETE', '/svc/config/locations/nas'))[0]).toBe(200)
})

test('a disk does not grow where the guest refuses the memory that is asked for with it', async () => {
  // Nothing in it takes part in giving memory back.
  await create(host, 'empty')
  await run(host, 'empty')
  const answer = await call(host, 'PATCH', '/svc/vms/empty', { diskSize: '2GB', memory: '100MB' })
  expect(answer).toEqual([400, expect.objectContaining({ code: 'vm_running' })])
  expect(await get(host, 'empty')).toMatchObject({ diskSize: { total: GiB }, memorySize: 256 * 2 ** 20 })
  expect((await call(host, 'PATCH', '/svc/vms/empty', { diskSize: '2GB' }))[0]).toBe(200)
  expect((await get(host, 'empty')).diskSize.total).toBe(2 * GiB)
  expect((await call(host, 'POST', '/svc/vms/empty/stop', { graceSeconds: 0 }))[0]).toBe(200)
})

test('a disk that is to grow where it moves to grows there, and not where the move fails', async () => {
  await create(host, 'mover')
  const elsewhere = scratchFolder('elsewhere')
  expect((await call(host, 'POST', '/svc/config/locations', { name: 'nas', path: elsewhere }))[0]).toBe(200)
  // A file system that takes no files stands for one that is full.
  expect((await call(host, 'PATCH', '/svc/vms/mover', { diskSize: '2GB', storage: '/proc' }))[0]).toBe(400)
  expect(await get(host, 'mover')).toMatchObject({ locationName: 'home', diskSize: { total: GiB } })
  // It was suspended once, and has a pool when it is again.
  writeFileSync(join(host.home, 'data/vms/mover/pool.json'), '{"size":2}\n')
  expect((await call(host, 'PATCH', '/svc/vms/mover', { diskSize: '2GB', storage: 'nas' }))[0]).toBe(200)
  expect(await get(host, 'mover')).toMatchObject({ locationName: 'nas', diskSize: { total: 2 * GiB } })
  expect(checkDisk(join(elsewhere, 'mover'))).toBe(0)
  expect((await call(host, 'POST', '/svc/vms/mover/pool', {}))[1]).toMatchObject({ size: 2, ready: 0 })
  expect((await call(host, 'DELETE', '/svc/vms/mover'))[0]).toBe(200)
  expect((await call(host, 'DELETE', '/svc/config/locations/nas'))[0]).toBe(200)
})
