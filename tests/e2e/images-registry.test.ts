/** Registries that ask who calls, break off, and send what they should not; and images of other makers. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type FakeRegistry, fakeRegistry, publishDisk } from '../support/fake-registry.ts'
import { appleLz4, lz4 } from '../support/lz4.ts'
import { startRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, create, ended, get, names } from '../support/vms.ts'

const MiB = 2 ** 20
const folder = mkdtempSync(join(tmpdir(), 'backlot-images-'))
let host: VmHost
let registry: FakeRegistry

beforeAll(async () => {
  process.env.DOCKER_CONFIG = folder
  registry = fakeRegistry()
  host = await startVmHost()
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  registry[Symbol.dispose]()
  delete process.env.DOCKER_CONFIG
  rmSync(folder, { recursive: true, force: true })
})

const disk = (name: string) => join(host.home, 'data/vms', name, 'disk.qcow2')

/** Whether a VM's disk shows this content, as `qemu-img` sees it. */
const shows = (name: string, bytes: Uint8Array): boolean => {
  const path = join(folder, 'wanted.raw')
  writeFileSync(path, bytes)
  return Bun.spawnSync(['qemu-img', 'compare', path, disk(name)]).exitCode === 0
}

/** A disk that differs in every sector from one with another seed, with a hole in it. */
const content = (seed: number, bytes = 3 * MiB): Buffer => {
  const all = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at += 4)
    if (at < MiB || at >= 2 * MiB) all.writeUInt32LE(((at + 4) * 2654435761 + seed) >>> 0, at)
  return all
}

const pull = (image: string, name = image.replace(/\W/g, '-')) =>
  call(host, 'POST', '/svc/pull', { image, name, registry: registry.address, organization: 'tests' })

const refused = async (image: string, code: string, why = '') => {
  expect(await pull(image)).toEqual([400, expect.objectContaining({ code, message: expect.stringContaining(why) })])
  const store = join(host.home, 'cache/images/.store')
  expect([await names(host), readdirSync(join(store, 'images')).filter((each) => each.startsWith('.'))]).toEqual([
    [],
    [],
  ])
}

test('a layer that is corrupt or too long is refused by its digest and size, and nothing half is shown', async () => {
  const [first] = publishDisk(registry, 'corrupt', content(1), (part) => Buffer.from(part))
  const { digest = '' } = first ?? {}
  registry.replace(digest, (bytes) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]))
  await refused('corrupt', 'layer_corrupt', `the layer "${digest}"`)
  const [long] = publishDisk(registry, 'long', content(2))
  registry.replace(long?.digest ?? '', (bytes) => Buffer.concat([bytes, Buffer.alloc(9)]))
  await refused('long', 'layer_corrupt', `the layer "${long?.digest}"`)
})

test('a layer that is something else unpacked is refused, and nothing half is shown', async () => {
  publishDisk(registry, 'longer', content(3), (part) => gzipSync(Buffer.concat([part, Buffer.alloc(512)])))
  await refused('longer', 'layer_corrupt', `more than ${MiB} bytes`)
  const unpacked = 'another size or digest unpacked'
  publishDisk(registry, 'shorter', content(4), (part) => gzipSync(part.subarray(512)))
  await refused('shorter', 'layer_corrupt', unpacked)
  publishDisk(registry, 'changed', content(5), (part) => gzipSync(Buffer.from(part).fill(1, 9, 10)))
  await refused('changed', 'layer_corrupt', unpacked)
  publishDisk(registry, 'damaged', content(6), (part) => gzipSync(part).subarray(0, -20))
  await refused('damaged', 'layer_corrupt')
})

test('what holds no disk is refused', async () => {
  registry.publish('nothing', [], {})
  await refused('nothing', 'image_unsupported')
  registry.publish('text', [registry.put(Buffer.from('no disk at all'), 'text/plain')], {})
  await refused('text', 'disk_unsupported')
})

test('a pull that breaks off goes on where it was, and no byte comes twice', async () => {
  const bytes = content(6)
  const layers = publishDisk(registry, 'broken', bytes, (part) => Buffer.from(part))
  const sent = registry.sent
  registry.cutAfter = 300_000
  try {
    expect((await pull('broken'))[0]).toBe(200)
  } finally {
    registry.cutAfter = Number.POSITIVE_INFINITY
  }
  expect(shows('broken', bytes)).toBe(true)
  expect(registry.ranges.length).toBeGreaterThan(5)
  const whole = new Map(layers.map(({ digest, size }) => [digest, size]))
  expect(registry.sent - sent - [...whole.values()].reduce((all, size) => all + size, 0)).toBeLessThan(MiB)
  expect((await call(host, 'DELETE', '/svc/vms/broken'))[0]).toBe(200)
})

test('a service that is killed goes on with its pull when it is started again', async () => {
  const bytes = content(7)
  publishDisk(registry, 'killed', bytes, (part) => Buffer.from(part))
  const home = mkdtempSync(join(tmpdir(), 'backlot-killed-'))
  try {
    const first = await startVmHost(['--port', '0'], home)
    const held = Promise.withResolvers<void>()
    registry.hold = held.promise
    registry.cutAfter = 500_000
    const body = { image: 'killed', registry: registry.address, organization: 'tests' }
    const [status, { operationId }] = await call(first, 'POST', '/svc/pull/start', body)
    expect(status).toBe(202)
    await until('the first bytes', () => keptBytes(home) > 0)
    expect((await get(first, 'killed_latest')).status).toBe('pulling')
    await first.kill()
    registry.hold = undefined
    registry.cutAfter = Number.POSITIVE_INFINITY
    held.resolve()
    const ranges = registry.ranges.length
    await using second = await startVmHost(['--port', '0'], home)
    const { state, cause } = await ended(second, String(operationId))
    expect([state, cause]).toEqual(['done', null])
    expect(registry.ranges.length).toBeGreaterThan(ranges)
    const wanted = join(folder, 'killed.raw')
    writeFileSync(wanted, bytes)
    const there = join(home, 'data/vms/killed_latest/disk.qcow2')
    expect(Bun.spawnSync(['qemu-img', 'compare', wanted, there]).exitCode).toBe(0)
    expect(readdirSync(join(home, 'state/transfers'))).toEqual([])
  } finally {
    registry.hold = undefined
    registry.cutAfter = Number.POSITIVE_INFINITY
    rmSync(home, { recursive: true, force: true })
  }
})

/** Bytes of unfinished layers on the disk of a service: what it has only received goes with it. */
const keptBytes = (home: string): number => {
  const store = join(home, 'cache/images/.store')
  if (!existsSync(store)) return 0
  const parts = [...new Bun.Glob('**/*.part').scanSync({ cwd: store, dot: true })]
  return parts.reduce((sum, path) => sum + statSync(join(store, path)).size, 0)
}

test('a pull that is cancelled leaves no VM, and the next one goes on where it was', async () => {
  const bytes = content(12)
  publishDisk(registry, 'cancelled', bytes, (part) => Buffer.from(part))
  const held = Promise.withResolvers<void>()
  registry.hold = held.promise
  registry.cutAfter = 500_000
  const kept = keptBytes(host.home)
  const body = { image: 'cancelled', name: 'cancelled', registry: registry.address, organization: 'tests' }
  const [, { operationId }] = await call(host, 'POST', '/svc/pull/start', body)
  const twice = await call(host, 'POST', '/svc/pull/start', body)
  expect(twice).toEqual([400, expect.objectContaining({ code: 'vm_exists' })])
  await until('the first bytes', () => keptBytes(host.home) > kept)
  expect((await call(host, 'DELETE', `/svc/operations/${operationId}`))[0]).toBe(200)
  expect((await ended(host, String(operationId))).state).toBe('cancelled')
  registry.hold = undefined
  registry.cutAfter = Number.POSITIVE_INFINITY
  held.resolve()
  expect([await names(host), readdirSync(join(host.home, 'state/transfers'))]).toEqual([[], []])
  const ranges = registry.ranges.length
  expect((await pull('cancelled'))[0]).toBe(200)
  expect([registry.ranges.length > ranges, shows('cancelled', bytes)]).toEqual([true, true])
  expect((await call(host, 'DELETE', '/svc/vms/cancelled'))[0]).toBe(200)
})

test('a push goes on when the service is started again', async () => {
  const home = mkdtempSync(join(tmpdir(), 'backlot-killed-'))
  try {
    const first = await startVmHost(['--port', '0'], home)
    const bytes = content(8)
    const path = join(folder, 'pushed.raw')
    writeFileSync(path, bytes)
    await create(first, 'pushed', { image: path, diskSize: '3MB' })
    const held = Promise.withResolvers<void>()
    registry.hold = held.promise
    const body = {
      name: 'pushed',
      imageName: 'pushed',
      tags: ['v1'],
      registry: registry.address,
      organization: 'tests',
      chunkSizeMb: 1,
    }
    const [status, { operationId }] = await call(first, 'POST', '/svc/vms/push', body)
    expect(status).toBe(202)
    await until('an upload', () => registry.uploads > 0)
    await first.kill()
    registry.hold = undefined
    held.resolve()
    await using second = await startVmHost(['--port', '0'], home)
    const { state, cause } = await ended(second, String(operationId))
    expect([state, cause]).toEqual(['done', null])
    expect((await pull('pushed:v1'))[0]).toBe(200)
    expect(shows('pushed-v1', bytes)).toBe(true)
    // Of a disk that was pulled, layers that the registry has are neither packed nor sent again.
    const uploads = registry.uploads
    const again = await call(host, 'POST', '/svc/vms/push', { ...body, name: 'pushed-v1', imageName: 'again' })
    expect((await ended(host, String(again[1].operationId))).state).toBe('done')
    const isConfiguration = registry.uploads - uploads <= 1
    expect([isConfiguration, (await pull('again:v1'))[0], shows('again-v1', bytes)]).toEqual([true, 200, true])
    for (const name of ['pushed-v1', 'again-v1']) {
      expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
    }
  } finally {
    registry.hold = undefined
    rmSync(home, { recursive: true, force: true })
  }
})

test('images of other makers are read: an index, zstd, and plain qcow2 and raw disks', async () => {
  const bytes = content(9)
  publishDisk(registry, 'zstd', bytes, (part) => zstdCompressSync(part))
  expect((await pull('zstd'))[0]).toBe(200)
  registry.publishIndex('index', 'zstd')
  expect((await pull('index'))[0]).toBe(200)
  registry.publish('raw', [registry.put(gzipSync(bytes), 'application/octet-stream')], {})
  expect((await pull('raw'))[0]).toBe(200)
  const [raw, qcow2] = [join(folder, 'plain.raw'), join(folder, 'plain.qcow2')]
  writeFileSync(raw, bytes)
  expect(Bun.spawnSync(['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', raw, qcow2]).exitCode).toBe(0)
  registry.publish(
    'qcow2',
    [registry.put(Buffer.from(await Bun.file(qcow2).arrayBuffer()), 'application/x-qemu-disk')],
    {},
  )
  expect((await pull('qcow2'))[0]).toBe(200)
  for (const name of ['zstd', 'index', 'raw', 'qcow2']) {
    expect([name, shows(name, bytes)]).toEqual([name, true])
    expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
  }
})

test("older forms of disks and tart's are read: pieces packed with LZ4, raw parts with numbers, Apple's LZ4", async () => {
  const bytes = content(12)
  const parts = [0, 1, 2].map((number) => bytes.subarray(number * MiB, (number + 1) * MiB))
  const configured = (of: object, mediaType: string) => registry.put(Buffer.from(JSON.stringify(of)), mediaType)
  const ociConfig = 'application/vnd.oci.image.config.v1+json'
  const shape = configured({ os: 'linux', cpuCount: 3, memorySize: 96 * MiB, diskSize: bytes.length }, ociConfig)
  const nvram = registry.put(Buffer.from('variables'), 'application/octet-stream')
  for (const [name, pack] of Object.entries({ pieces: appleLz4, frames: (part: Uint8Array) => lz4(part) })) {
    const pieces = parts.map((part) => registry.put(pack(part), 'application/octet-stream+lz4'))
    registry.publish(name, [...pieces, shape, nvram], {})
  }
  const numbered = (total: number) =>
    parts.map((part, index) =>
      registry.put(part, `application/vnd.oci.image.layer.v1.tar;part.number=${index + 1};part.total=${total}`),
    )
  registry.publish('numbered', [nvram, shape, ...numbered(3).reverse()], {})
  const tart = (unpacked: (part: Uint8Array) => Uint8Array) =>
    parts.map((part) => ({
      ...registry.put(appleLz4(part), 'application/vnd.cirruslabs.tart.disk.v2'),
      annotations: {
        'org.cirruslabs.tart.uncompressed-size': String(part.length),
        'org.cirruslabs.tart.uncompressed-content-digest': `sha256:${new Bun.CryptoHasher('sha256').update(unpacked(part)).digest('hex')}`,
      },
    }))
  const tartShape = { cpuCount: 3, memorySize: 96 * MiB, display: { width: 1024, height: 768 } }
  const tartConfig = (os: string) => configured({ ...tartShape, os }, 'application/vnd.cirruslabs.tart.config.v1')
  const tartNvram = registry.put(Buffer.from('variables'), 'application/vnd.cirruslabs.tart.nvram.v1')
  const sides = { os: 'linux', architecture: 'arm64' }
  registry.publish('tart', [tartConfig('linux'), ...tart((part) => part), tartNvram], sides)
  // Its first form: one stream, cut anywhere.
  const stream = appleLz4(bytes)
  const cuts = [0, 70_001, 900_000, stream.length]
  const cut = [0, 1, 2].map((index) => stream.subarray(cuts[index], cuts[index + 1]))
  const streamed = cut.map((part) => registry.put(part, 'application/vnd.cirruslabs.tart.disk.v1'))
  registry.publish('streamed', [tartConfig('linux'), ...streamed, tartNvram], sides)
  for (const name of ['pieces', 'frames', 'numbered', 'tart', 'streamed']) {
    expect([name, (await pull(name))[0], shows(name, bytes)]).toEqual([name, 200, true])
    expect(await get(host, name)).toMatchObject({ os: 'linux', cpuCount: 3, memorySize: 96 * MiB })
    expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
  }
  registry.publish('mac', [tartConfig('darwin'), registry.put(bytes, 'application/x-raw-disk')], {})
  const sent = registry.sent
  await refused('mac', 'macos_unavailable')
  // It is known from the configuration: no disk is fetched for nothing.
  expect(registry.sent - sent).toBeLessThan(MiB)
  registry.publish('lacking', numbered(4), {})
  await refused('lacking', 'image_unsupported', '3 of 4 parts')
  registry.publish('other', [tartConfig('linux'), ...tart((part) => part.subarray(1))], {})
  await refused('other', 'layer_corrupt', 'another size or digest unpacked')
  registry.publish('torn', [registry.put(appleLz4(bytes).subarray(0, -5), 'application/octet-stream+lz4')], {})
  await refused('torn', 'image_unsupported', 'breaks off')
})

test('a registry that asks for a password gets what docker knows, from its file or a helper; others are refused', async () => {
  const hash = await Bun.password.hash('secret', { algorithm: 'bcrypt', cost: 4 })
  await using guarded = await startRegistry(`tester:${hash}\n`)
  const body = { image: 'none', name: 'guarded', registry: guarded.address, organization: 'tests' }
  const answer = async () => (await call(host, 'POST', '/svc/pull', body))[1].code
  const tell = (config: unknown) => writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  expect(await answer()).toBe('registry_refused')
  tell({ auths: { [guarded.address]: { auth: btoa('tester:wrong') } } })
  expect(await answer()).toBe('registry_refused')
  tell({ auths: { [guarded.address]: { auth: btoa('tester:secret') } } })
  expect(await answer()).toBe('image_not_found')
  const programs = join(folder, 'bin')
  mkdirSync(programs)
  const helper = join(programs, 'docker-credential-tests')
  writeFileSync(
    helper,
    `#!/bin/sh\nread -r server\n[ "$server" = '${guarded.address}' ] || exit 1\necho '{"Username":"tester","Secret":"secret"}'\n`,
  )
  chmodSync(helper, 0o755)
  tell({ credHelpers: { [guarded.address]: 'tests' } })
  const path = process.env.PATH
  process.env.PATH = `${programs}:${path}`
  try {
    await using helped = await startVmHost()
    expect((await call(helped, 'POST', '/svc/pull', body))[1].code).toBe('image_not_found')
  } finally {
    process.env.PATH = path
    rmSync(join(folder, 'config.json'))
  }
})

test('a registry that asks for a token gets one, and none is sent where it sends on to', async () => {
  const bytes = content(10)
  publishDisk(registry, 'token', bytes)
  registry.asksForToken = true
  registry.sendsElsewhere = true
  try {
    expect((await pull('token'))[0]).toBe(200)
  } finally {
    registry.asksForToken = false
    registry.sendsElsewhere = false
  }
  expect(shows('token', bytes)).toBe(true)
  expect([registry.scopes.at(-1), registry.leaked]).toEqual(['repository:tests/token:pull', []])
  expect((await call(host, 'DELETE', '/svc/vms/token'))[0]).toBe(200)
})

test('a containerDisk is read, from the last layer that has a disk', async () => {
  const [root, raw, qcow2] = ['root', 'root/disk', 'root/disk/system.qcow2'].map((path) => join(folder, path))
  mkdirSync(raw ?? '', { recursive: true })
  const bytes = content(11)
  writeFileSync(join(folder, 'container.raw'), bytes)
  const converted = ['qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', join(folder, 'container.raw'), qcow2 ?? '']
  expect(Bun.spawnSync(converted).exitCode).toBe(0)
  writeFileSync(join(root ?? '', 'other'), 'no disk')
  const archive = (...words: string[]) => Buffer.from(Bun.spawnSync(['tar', '-C', root ?? '', '-c', ...words]).stdout)
  const type = 'application/vnd.oci.image.layer.v1.tar+gzip'
  for (const format of ['gnu', 'pax']) {
    const layers = [archive(`--format=${format}`, 'other', 'disk'), archive('other')]
    registry.publish(
      format,
      layers.map((layer) => registry.put(gzipSync(layer), type)),
      { architecture: 'amd64', os: 'linux' },
    )
    expect((await pull(format))[0]).toBe(200)
    expect(shows(format, bytes)).toBe(true)
    expect((await call(host, 'DELETE', `/svc/vms/${format}`))[0]).toBe(200)
  }
  registry.publish('diskless', [registry.put(gzipSync(archive('other')), type)], {})
  await refused('diskless', 'image_unsupported', 'disk/')
  registry.publish('cut', [registry.put(gzipSync(archive('disk').subarray(0, 2 * MiB)), type)], {})
  await refused('cut', 'image_unsupported', 'breaks off')
})
