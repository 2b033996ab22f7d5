/** Images pulled from and pushed to a real registry, with `skopeo` and `qemu-img` as witnesses. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { linuxMinimal } from '../support/image.ts'
import { proving } from '../support/proves.ts'
import { Scratch } from '../support/qemu.ts'
import { type Registry, startRegistry } from '../support/registry.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { booted, call, checkDisk, create, ended, get, giveImage, names, small } from '../support/vms.ts'

const scratch = new Scratch()
let registry: Registry
let host: VmHost
let other: VmHost

beforeAll(async () => {
  ;[registry, host, other] = await Promise.all([startRegistry(), startVmHost(), startVmHost()])
  await giveImage(host)
  await create(host, 'source', { image: 'linux-minimal:latest', diskSize: '256MB' })
})

afterAll(async () => {
  await Promise.all([host, other, registry].map((each) => each[Symbol.asyncDispose]()))
  scratch[Symbol.dispose]()
})

const disk = (service: VmHost, name: string) => join(service.home, 'data/vms', name, 'disk.qcow2')
const isSame = (one: string, two: string) => Bun.spawnSync(['qemu-img', 'compare', one, two]).exitCode === 0
const store = (service: VmHost, ...path: string[]) => join(service.home, 'cache/images/.store', ...path)

/** The manifest as skopeo reads it. */
const inspected = (image: string): string => {
  const words = ['skopeo', 'inspect', '--tls-verify=false', '--raw', `docker://${registry.address}/${image}`]
  const { exitCode, stdout, stderr } = Bun.spawnSync(words)
  if (exitCode !== 0) throw new Error(stderr.toString())
  return stdout.toString()
}

const push = async (service: VmHost, body: Readonly<Record<string, unknown>>) => {
  const [status, answer] = await call(service, 'POST', '/svc/vms/push', {
    registry: registry.address,
    organization: 'tests',
    ...body,
  })
  expect([status, answer]).toEqual([202, expect.objectContaining({ operationId: expect.any(String) })])
  const { state, cause } = await ended(service, String(answer.operationId))
  expect([state, cause]).toEqual(['done', null])
  return answer
}

const pull = (service: VmHost, body: Readonly<Record<string, unknown>>) =>
  call(service, 'POST', '/svc/pull', { registry: registry.address, organization: 'tests', ...body })

test(
  'a VM is pushed under each tag, in chunks, and skopeo reads it',
  proving(
    [
      'vmhost.push',
      'vmhost.timing.push-asynchronous',
      'vmhost.image-reference.image-name',
      'vmhost.image-reference.tags',
      'vmhost.image-reference.chunk-size',
    ],
    async () => {
      const answer = await push(host, { name: 'source', imageName: 'minimal', tags: ['one', 'two'], chunkSizeMb: 50 })
      expect(answer).toMatchObject({ name: 'source', imageName: 'minimal', tags: ['one', 'two'] })
      const [one, two] = ['one', 'two'].map((tag) => JSON.parse(inspected(`tests/minimal:${tag}`)))
      expect(one).toEqual(two)
      const parts = one.layers.filter(({ mediaType }: { mediaType: string }) => mediaType.includes('lume.disk.v1'))
      expect(
        parts.map((part: { annotations: Record<string, string> }) => part.annotations['org.trycua.lume.part.offset']),
      ).toEqual(Array.from({ length: 6 }, (_, index) => String(index * 50 * 2 ** 20)))
      // A second client has all of it, checked by itself.
      const copy = Bun.spawnSync([
        'skopeo',
        'copy',
        '--src-tls-verify=false',
        `docker://${registry.address}/tests/minimal:one`,
        `dir:${scratch.at('copy')}`,
      ])
      expect([copy.exitCode, copy.stderr.toString()]).toEqual([0, ''])
    },
  ),
)

test(
  'the upload chunk size is 512 MB unless the push says otherwise',
  proving(['vmhost.limits.chunk-size'], async () => {
    await push(host, { name: 'source', imageName: 'usual', tags: ['latest'] })
    const { layers } = JSON.parse(inspected('tests/usual:latest'))
    const sizes = layers.map(
      ({ annotations }: { annotations?: Record<string, string> }) => annotations?.['org.trycua.lume.chunk.size'],
    )
    expect(sizes.filter((size: unknown) => size !== undefined)).toEqual([String(512 * 2 ** 20)])
  }),
)

test(
  'a pulled VM has the disk that was pushed, boots, and its image is listed',
  proving(
    ['vmhost.pull', 'vmhost.image-reference.image', 'vmhost.images.list', 'vmhost.image-reference.organization'],
    async () => {
      const [status, answer] = await pull(other, { image: 'minimal:one', name: 'pulled' })
      expect([status, answer]).toEqual([200, expect.objectContaining({ image: 'minimal:one', name: 'pulled' })])
      expect([
        checkDisk(join(other.home, 'data/vms/pulled')),
        isSame(disk(host, 'source'), disk(other, 'pulled')),
      ]).toEqual([0, true])
      const [own, none] = await Promise.all(
        ['tests', 'others'].map(async (name) => (await call(other, 'GET', `/svc/images?organization=${name}`))[1]),
      )
      const digest = `sha256:${new Bun.CryptoHasher('sha256').update(inspected('tests/minimal:one')).digest('hex')}`
      expect<unknown>(own).toEqual([
        expect.objectContaining({
          repository: 'tests/minimal',
          imageId: digest,
          tag: 'one',
          registry: registry.address,
        }),
      ])
      expect<unknown>(none).toEqual([])
      // Holes did not become blocks.
      const { blocks, size } = statSync(store(other, 'images', digest.replace(':', '-'), 'disk.raw'))
      expect([size, blocks * 512 < size / 2]).toEqual([256 * 2 ** 20, true])
    },
  ),
)

test(
  'a name of an image that is no VM is pulled from the registry of the configuration, and runs',
  proving(['vmhost.image-reference.registry'], async () => {
    const config = { registry: registry.address, organization: 'tests' }
    expect((await call(other, 'POST', '/svc/config', config))[0]).toBe(200)
    const [status, answer] = await call(other, 'POST', '/svc/vms/minimal:two/run', { noDisplay: true })
    expect([status, answer]).toEqual([202, expect.objectContaining({ name: 'minimal_two', status: 'pending' })])
    const operation = await ended(other, String(answer.operationId))
    expect([operation.state, operation.cause]).toEqual(['done', null])
    const vm = await get(other, 'minimal_two')
    expect(vm.status).toBe('running')
    await booted(vm)
    expect((await call(other, 'POST', '/svc/vms/minimal_two/stop', { graceSeconds: 0 }))[0]).toBe(200)
  }),
)

test(
  'prune removes what was pulled and says what that frees, and no VM misses it',
  proving(['vmhost.prune'], async () => {
    const drive = () =>
      Number(Bun.spawnSync(['du', '-s', '--block-size=1', other.home]).stdout.toString().split('\t')[0])
    const before = drive()
    const [status, answer] = await call(other, 'POST', '/svc/prune')
    expect([status, typeof answer.freedBytes]).toEqual([200, 'number'])
    const freed = before - drive()
    expect(Math.abs(freed - Number(answer.freedBytes))).toBeLessThan(2 ** 17)
    expect(Number(answer.freedBytes)).toBeGreaterThan(2 ** 20)
    expect<unknown>((await call(other, 'GET', '/svc/images'))[1]).toEqual([])
    expect(isSame(disk(host, 'source'), disk(other, 'pulled'))).toBe(true)
    expect((await call(host, 'POST', '/svc/prune'))[0]).toBe(200)
    // What was built here is not what was cached.
    expect<unknown>((await call(host, 'GET', '/svc/images'))[1]).toEqual([
      expect.objectContaining({ repository: 'linux-minimal' }),
    ])
  }),
)

test(
  'what cannot be pulled or pushed is refused with the reason, and leaves nothing',
  proving(
    ['vmhost.pull.refused', 'vmhost.push.refused', 'vmhost.images.list.refused', 'vmhost.prune.refused'],
    async () => {
      const before = await names(other)
      expect(await pull(other, { image: 'minimal:none' })).toEqual([
        400,
        expect.objectContaining({ code: 'image_not_found' }),
      ])
      expect(await pull(other, { image: 'UPPER:x' })).toEqual([
        400,
        expect.objectContaining({ code: 'invalid_argument' }),
      ])
      expect(await pull(other, { image: 'x', registry: '127.0.0.1:1' })).toEqual([
        400,
        expect.objectContaining({ code: 'registry_unreachable' }),
      ])
      expect(await names(other)).toEqual(before)
      const body = { name: 'source', imageName: 'minimal', tags: ['x'], registry: registry.address }
      for (const wrong of [
        { name: 'none' },
        { imageName: 'A/B' },
        { tags: [] },
        { tags: ['a b'] },
        { chunkSizeMb: 0 },
      ]) {
        expect((await call(host, 'POST', '/svc/vms/push', { ...body, ...wrong }))[0]).toBe(400)
      }
      // A folder in the place of a file's folder.
      const cacheDirectory = scratch.at('broken')
      mkdirSync(join(cacheDirectory, '.store'), { recursive: true })
      for (const name of ['images', 'refs']) writeFileSync(join(cacheDirectory, '.store', name), '')
      await call(host, 'POST', '/svc/config', { cacheDirectory })
      expect((await call(host, 'POST', '/svc/prune'))[0]).toBe(400)
      expect((await call(host, 'GET', '/svc/images'))[0]).toBe(400)
      await call(host, 'POST', '/svc/config', { cacheDirectory: join(host.home, 'cache/images') })
      expect((await call(host, 'GET', `/svc/images?organization=${'a'.repeat(300)}`))[0]).toBe(400)
    },
  ),
)

test('a pull that failed is told by its VM that is not there', async () => {
  const [status, { operationId }] = await call(other, 'POST', '/svc/pull/start', {
    image: 'minimal:none',
    name: 'never',
  })
  expect(status).toBe(202)
  // Whoever asks all the time hears of no moment in between.
  let told = await call(other, 'GET', '/svc/vms/never')
  while (told[0] === 200) told = await call(other, 'GET', '/svc/vms/never')
  expect((await ended(other, String(operationId))).state).toBe('failed')
  expect(told).toEqual([
    400,
    expect.objectContaining({
      code: 'pull_failed',
      message: expect.stringContaining("Pull failed for 'never': There is no image"),
    }),
  ])
})

test('gzip is for clients that read nothing else, and is read as well', async () => {
  await push(host, { name: 'source', imageName: 'packed', tags: ['latest'], compression: 'gzip' })
  const { layers } = JSON.parse(inspected('tests/packed:latest'))
  expect(layers.at(-1).mediaType).toBe('application/vnd.trycua.lume.disk.v1')
  expect((await pull(other, { image: 'packed', name: 'unpacked' }))[0]).toBe(200)
  expect(isSame(disk(host, 'source'), disk(other, 'unpacked'))).toBe(true)
})

test('a host that keeps no images keeps no layers', async () => {
  await call(other, 'POST', '/svc/config', { cachingEnabled: false })
  expect((await pull(other, { image: 'minimal:one', name: 'uncached' }))[0]).toBe(200)
  await call(other, 'POST', '/svc/prune')
  expect(isSame(disk(host, 'source'), disk(other, 'uncached'))).toBe(true)
  expect((await pull(other, { image: 'minimal:one', name: 'uncached-too' }))[0]).toBe(200)
  expect(['blobs', 'images', 'refs'].map((name) => readdirSync(store(other, name)))).toEqual([[], [], []])
  await call(other, 'POST', '/svc/config', { cachingEnabled: true })
})

test('two services that pull the same into one cache share it', async () => {
  await using third = await startVmHost()
  const cacheDirectory = join(other.home, 'cache/images')
  await call(third, 'POST', '/svc/config', { cacheDirectory })
  await call(other, 'POST', '/svc/prune')
  const answers = await Promise.all([
    pull(other, { image: 'minimal:one', name: 'shared' }),
    pull(third, { image: 'minimal:one', name: 'shared' }),
  ])
  expect(answers.map(([status]) => status)).toEqual([200, 200])
  expect([
    isSame(disk(host, 'source'), disk(other, 'shared')),
    isSame(disk(host, 'source'), disk(third, 'shared')),
  ]).toEqual([true, true])
  expect(readdirSync(store(other, 'images')).length).toBe(1)
})

test('`a_b:c` and `a:b_c` have one folder where they are built, and are not taken for each other', async () => {
  const folder = join(host.home, 'cache/images/a_b_c')
  mkdirSync(folder)
  const { folder: built, image } = await linuxMinimal()
  writeFileSync(join(folder, 'image.json'), JSON.stringify({ ...image, name: 'a_b', tag: 'c' }))
  for (const file of ['disk.raw', 'kernel', 'initrd']) symlinkSync(join(built, file), join(folder, file))
  await create(host, 'right', { image: 'a_b:c' })
  const wrong = await call(host, 'POST', '/svc/vms', { ...small, name: 'wrong', image: 'a:b_c' })
  expect(wrong).toEqual([400, expect.objectContaining({ code: 'image_not_found' })])
})
