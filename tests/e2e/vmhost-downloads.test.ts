/** Downloads that meet, break off, and change meanwhile: a disk is whole, or its VM is not made. */
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveDisk } from '../support/disk-server.ts'
import { Scratch } from '../support/qemu.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, create, ended, get } from '../support/vms.ts'

const MiB = 2 ** 20
const scratch = new Scratch()
let host: VmHost
let other: VmHost

beforeAll(async () => {
  ;[host, other] = await Promise.all([startVmHost(), startVmHost()])
  // Two services that keep what they fetch in one folder.
  const cacheDirectory = join(host.home, 'cache/images')
  expect((await call(other, 'POST', '/svc/config', { cacheDirectory }))[0]).toBe(200)
})

afterAll(async () => {
  await Promise.all([host[Symbol.asyncDispose](), other[Symbol.asyncDispose]()])
  scratch[Symbol.dispose]()
})

/** The server of a test. */
let server: Awaited<ReturnType<typeof serveDisk>>

afterEach(() => server[Symbol.dispose]())

/** A content of so many MiB that differs in every MiB from one with another seed. */
const content = (seed: number, mebibytes: number): Uint8Array => {
  const bytes = Buffer.alloc(mebibytes * MiB)
  for (let index = 0; index < bytes.length; index += 4) bytes.writeUInt32LE((index * 2654435761 + seed) >>> 0, index)
  return bytes
}

let count = 0
const begin = async (service: VmHost, url = server.url) => {
  const name = `fetched-${++count}`
  const { operationId } = await create(service, name, { image: url, diskSize: '64MB' })
  return { service, name, id: String(operationId) }
}

/** Whether the VM's disk shows this content, as `qemu-img` sees it. */
const shows = ({ service, name }: { service: VmHost; name: string }, bytes: Uint8Array): boolean => {
  const path = scratch.at('wanted.raw')
  writeFileSync(path, bytes)
  const disk = join(service.home, 'data/vms', name, 'disk.qcow2')
  return Bun.spawnSync(['qemu-img', 'compare', path, disk]).exitCode === 0
}

const made = async (vm: { service: VmHost; id: string }) => {
  const { state, cause } = await ended(vm.service, vm.id)
  expect([state, cause]).toEqual(['done', null])
}

/** Begins a download and waits until so much has arrived; the server then waits until it is let go on. */
const half = async (service: VmHost, bytes: number) => {
  const held = Promise.withResolvers<void>()
  Object.assign(server.state, { hold: held.promise, cutAfter: bytes })
  const vm = await begin(service)
  await until('half of it', async () => (await get(service, vm.name)).downloadedBytes === bytes)
  Object.assign(server.state, { hold: undefined, cutAfter: Number.POSITIVE_INFINITY })
  return { vm, letGo: held.resolve }
}

const cancelled = async ({ service, id }: { service: VmHost; id: string }) => {
  expect((await call(service, 'DELETE', `/svc/operations/${id}`))[0]).toBe(200)
  expect((await ended(service, id)).state).toBe('cancelled')
}

for (const etag of [undefined, '"one"']) {
  test(`two services and three callers that fetch one address ${etag ? 'with' : 'without'} an ETag get all of it`, async () => {
    const bytes = content(1, 3)
    server = await serveDisk(bytes)
    server.state.etag = etag
    const { vm: first, letGo } = await half(host, MiB)
    const more = [await begin(host), await begin(other)]
    for (const { service, name } of more) {
      await until('it to wait, or to fetch for itself', async () => {
        const { provisioningOperation, downloadedBytes } = await get(service, name)
        return provisioningOperation?.startsWith('waiting') || downloadedBytes === bytes.length
      })
    }
    server.state.cutAfter = Number.POSITIVE_INFINITY
    letGo()
    for (const vm of [first, ...more]) {
      await made(vm)
      expect([vm.name, shows(vm, bytes)]).toEqual([vm.name, true])
    }
  })
}

test('a refresh that was interrupted does not make the old content the current one', async () => {
  const [old, next] = [content(1, 2), content(2, 2)]
  server = await serveDisk(old)
  await made(await begin(host))
  Object.assign(server.state, { bytes: next, etag: '"two"' })
  const { vm, letGo } = await half(host, MiB)
  await cancelled(vm)
  letGo()
  const retried = await begin(host)
  await made(retried)
  expect(shows(retried, next)).toBe(true)
  expect(server.state.requests).toEqual(['0', '0', String(MiB)])
})

for (const hasLength of [true, false]) {
  test(`a download whose service died with all bytes is finished, ${hasLength ? 'whose' : 'and no'} length was told`, async () => {
    const bytes = content(3, 2)
    server = await serveDisk(bytes)
    const held = Promise.withResolvers<void>()
    Object.assign(server.state, { hold: held.promise, hasLength })
    // With a length the end is seen at once: the last byte is held back.
    if (hasLength) server.state.cutAfter = bytes.length - 1
    await using dying = await startVmHost()
    const folder = join(dying.home, 'cache/images')
    const vm = await begin(dying)
    const wanted = hasLength ? bytes.length - 1 : bytes.length
    await until('all of it', async () => (await get(dying, vm.name)).downloadedBytes === wanted)
    await dying.kill()
    held.resolve()
    if (hasLength) {
      const [part = ''] = [...new Bun.Glob('downloads/*.part').scanSync({ cwd: folder })]
      writeFileSync(join(folder, part), bytes)
    }
    Object.assign(server.state, { hold: undefined, cutAfter: Number.POSITIVE_INFINITY })
    await using next = await startVmHost(['--port', '0'], dying.home)
    const retried = await begin(next)
    await made(retried)
    expect(shows(retried, bytes)).toBe(true)
    expect(server.state.requests.slice(1)).toEqual(hasLength ? ['same?'] : [String(bytes.length), '0'])
  })
}

for (const [what, mebibytes, mindsIfRange] of [
  ['as servers should', 2, true],
  ['on a server that goes on with another content', 2, false],
  ['on a server that goes on with a longer one', 3, false],
  ['into a shorter one', 1, false],
] as const) {
  test(`a content that changed since a download broke off is fetched anew, ${what}`, async () => {
    const [old, next] = [content(4, 2), content(5, mebibytes)]
    server = await serveDisk(old)
    const { vm, letGo } = await half(host, 1.5 * MiB)
    await cancelled(vm)
    letGo()
    Object.assign(server.state, { bytes: next, etag: '"two"', mindsIfRange })
    const retried = await begin(host)
    await made(retried)
    expect(shows(retried, next)).toBe(true)
  })
}

test('what a service that died had fetched, and told of nowhere, does not stay', async () => {
  const folder = join(host.home, 'cache/images/downloads')
  mkdirSync(folder, { recursive: true })
  const disks = () => new Set(new Bun.Glob('*.disk').scanSync({ cwd: folder }))
  server = await serveDisk(content(8, 1))
  const others = disks()
  await made(await begin(host))
  const [disk = ''] = [...disks().difference(others)]
  writeFileSync(join(folder, disk.replace(/\..*/, '.untold.disk')), content(9, 1))
  await made(await begin(host))
  expect(disks().difference(others)).toEqual(new Set([disk]))
})

test('a date that another content may have too is not trusted', async () => {
  const [old, next] = [content(6, 1), content(7, 1)]
  server = await serveDisk(old)
  const now = new Date().toUTCString()
  Object.assign(server.state, { etag: undefined, headers: { Date: now, 'Last-Modified': now }, isUnmodified: true })
  await made(await begin(host))
  server.state.bytes = next
  const again = await begin(host)
  await made(again)
  expect(shows(again, next)).toBe(true)
})
