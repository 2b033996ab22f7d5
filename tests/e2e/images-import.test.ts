/** Images made of disks, discs and archives of any origin, with `qemu-img` and Python's zipfile as witnesses. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'bun'
import { runBacklot } from '../support/backlot.ts'
import { serveDisk } from '../support/disk-server.ts'
import { runProgram } from '../support/guest.ts'
import { lz4 } from '../support/lz4.ts'
import { Scratch } from '../support/qemu.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, create, ended, get } from '../support/vms.ts'

const MiB = 2 ** 20
const scratch = new Scratch()
const raw = scratch.at('plain.raw')
const bytes = Buffer.alloc(4 * MiB)
let first: VmHost
let host: VmHost

beforeAll(async () => {
  // Data, a hole, data.
  for (let at = 0; at < MiB; at += 4) bytes.writeUInt32LE((at * 2654435761) >>> 0, at)
  bytes.write('the end', bytes.length - 512)
  writeFileSync(raw, bytes)
  first = await startVmHost()
  host = first
})

afterAll(async () => {
  await host.end()
  // It has the home of both.
  await first[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
})

const begin = async (source: string, name?: string) => {
  const [status, answer] = await call(host, 'POST', '/svc/images/import', {
    source,
    ...(name !== undefined && { name }),
  })
  return { status, ...answer } as { status: number; image?: string; operationId?: string; message: string }
}

/** Imports the file, and gives its image's name and how that ended. */
const bring = async (source: string, name?: string) => {
  const { image, operationId } = await begin(source, name)
  const { kind, state, cause } = await ended(host, String(operationId))
  expect(kind).toBe('import')
  return { image: String(image), state, why: cause?.message ?? '', code: cause?.code }
}

const folderOf = (image: string): string => join(host.home, 'cache/images', image.replace(':', '_'))

const aboutOf = (image: string) => JSON.parse(readFileSync(join(folderOf(image), 'image.json'), 'utf8'))

const isSame = async (image: string): Promise<boolean> => {
  const { disk, diskFormat } = aboutOf(image)
  const words = ['qemu-img', 'compare', '-f', 'raw', '-F', diskFormat, raw, join(folderOf(image), disk)]
  return Bun.spawnSync(words).exitCode === 0
}

/** What an import that failed has left, or one that is done. */
const remains = (): string[] => readdirSync(join(host.home, 'cache/images/.store/pushes'))

const zip = async (name: string, files: Readonly<Record<string, string>>): Promise<string> => {
  const path = scratch.at(name)
  const program =
    'import sys, zipfile\nz = zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED)\nfor i in range(2, len(sys.argv), 2): z.write(sys.argv[i + 1], sys.argv[i])\nz.close()'
  await runProgram('python3', '-c', program, path, ...Object.entries(files).flat())
  return path
}

test('disks of each format, plain and packed, become images with the same content, and VMs of them have it', async () => {
  const sources: string[] = [raw]
  for (const [format, ending] of Object.entries({ qcow2: 'qcow2', vhdx: 'vhdx', vmdk: 'vmdk', vpc: 'vhd' })) {
    // A fixed size: QEMU's geometry of a vhd would round it up.
    const more = format === 'vpc' ? ['-o', 'force_size=on'] : []
    await runProgram('qemu-img', 'convert', '-f', 'raw', '-O', format, ...more, raw, scratch.at(`a.${ending}`))
    sources.push(scratch.at(`a.${ending}`))
  }
  writeFileSync(scratch.at('b.img.gz'), gzipSync(bytes))
  writeFileSync(scratch.at('b.img.zst'), zstdCompressSync(bytes))
  const [xz, bzip2] = ['xz', 'bzip2'].map((program) => Bun.spawnSync([program, '-c', raw]).stdout)
  writeFileSync(scratch.at('b.img.xz'), xz ?? '')
  writeFileSync(scratch.at('b.img.bz2'), bzip2 ?? '')
  // Damaged in what it says of itself at its end.
  writeFileSync(scratch.at('damaged.img.xz'), xz?.subarray(0, -20) ?? '')
  sources.push(...['gz', 'zst', 'xz', 'bz2'].map((ending) => scratch.at(`b.img.${ending}`)))
  sources.push(await zip('c.zip', { 'read me.txt': scratch.at('b.img.gz'), 'disks/disk.vhdx': scratch.at('a.vhdx') }))
  const made = await Promise.all(sources.map((source, index) => bring(source, `made-${index}:v1`)))
  for (const { image, state, why } of made)
    expect([image, state, why, await isSame(image)]).toEqual([image, 'done', '', true])
  const listed = (await call(host, 'GET', '/svc/images'))[1] as unknown as {
    name: string
    registry: null
    bytes: number
  }[]
  expect(listed.map(({ name, registry }) => [name, registry])).toEqual(
    sources.map((_, index) => [`made-${index}`, null]),
  )
  expect(remains()).toEqual([])

  await create(host, 'of-vhdx', { image: 'made-2:v1', diskSize: '16MB' })
  const disk = join(host.home, 'data/vms/of-vhdx/disk.qcow2')
  expect(Bun.spawnSync(['qemu-img', 'compare', '-f', 'raw', '-F', 'qcow2', raw, disk]).exitCode).toBe(0)
})

test('an address is fetched, packed or not, named after its path, and taken up again after the service died', async () => {
  using server = await serveDisk(gzipSync(bytes))
  const held = Promise.withResolvers<void>()
  Object.assign(server.state, { hold: held.promise, cutAfter: 4_096 })
  const { image, operationId, status } = await begin(`${server.url}?token=secret`)
  expect([status, image]).toEqual([202, 'disk:latest'])
  await until('half of it', async () => {
    const operation = (await call(host, 'GET', `/svc/operations/${operationId}`))[1]
    return (operation.progress as { doneBytes?: number } | null)?.doneBytes === 4_096
  })
  await host.kill()
  Object.assign(server.state, { hold: undefined, cutAfter: Number.POSITIVE_INFINITY })
  held.resolve()
  host = await startVmHost(['--port', '0'], first.home)
  expect((await ended(host, String(operationId))).cause).toBeNull()
  expect([await isSame('disk:latest'), aboutOf('disk:latest').source]).toEqual([true, server.url])
  expect(server.state.requests).toEqual(['0', '4096'])
  await call(host, 'POST', '/svc/prune')
  expect([remains(), existsSync(folderOf('disk:latest'))]).toEqual([[], true])
})

test('a disc becomes an empty disk and a disc, which VMs of it and their clones have', async () => {
  const disc = Buffer.alloc(64 * 1024)
  disc.write('\x01CD001\x01', 16 * 2_048, 'latin1')
  writeFileSync(scratch.at('system 12.iso'), disc)
  const { image, state } = await bring(scratch.at('system 12.iso'))
  expect([image, state]).toEqual(['system-12:latest', 'done'])
  expect(aboutOf(image)).toMatchObject({ iso: 'install.iso', disk: 'disk.qcow2', defaults: { diskSize: '64GB' } })
  await create(host, 'installed', { image, diskSize: '64GB' })
  expect((await call(host, 'POST', '/svc/vms/clone', { name: 'installed', newName: 'again' }))[0]).toBe(200)
  for (const name of ['installed', 'again']) {
    expect(readFileSync(join(host.home, 'data/vms', name, 'install.iso')).equals(disc)).toBe(true)
    expect((await get(host, name)).diskSize.total).toBe(64 * 2 ** 30)
  }
})

test('what holds no disk, several, a name that leads out, or other bytes than it says is refused, and leaves nothing', async () => {
  const one = scratch.at('a.qcow2')
  const two = await zip('two.zip', { 'a.qcow2': one, 'b.qcow2': one })
  const out = await zip('out.zip', { '../a.qcow2': one })
  const damaged = readFileSync(await zip('damaged.zip', { 'a.raw': raw }))
  // Within the data: the name and the header stand before it.
  damaged.writeUInt8((damaged[200] ?? 0) ^ 1, 200)
  writeFileSync(scratch.at('damaged.zip'), damaged)
  writeFileSync(scratch.at('short.img'), Buffer.alloc(700))
  writeFileSync(scratch.at('plain.raw.lz4'), lz4(bytes))
  const cases: readonly [string, string][] = [
    [scratch.at('plain.raw.lz4'), 'it is packed with lz4'],
    [two, 'it holds several disks: "a.qcow2", "b.qcow2"'],
    [out, 'invalid relative path'],
    [scratch.at('damaged.zip'), 'it cannot be unpacked'],
    [scratch.at('damaged.img.xz'), 'Unexpected end of input'],
    [scratch.at('short.img'), 'no whole number of sectors'],
  ]
  for (const [source, text] of cases) {
    const { state, code, why } = await bring(source, 'bad')
    expect([state, code, why]).toEqual(['failed', 'disk_unsupported', expect.stringContaining(text)])
  }
  expect(remains()).toEqual([])
  expect(existsSync(folderOf('bad:latest'))).toBe(false)
  expect(existsSync(join(host.home, 'cache/images/.store/a.qcow2'))).toBe(false)
  const gone = await begin(scratch.at('nothing.img'))
  expect([gone.status, gone.message]).toEqual([400, expect.stringContaining('nothing.img')])
  expect((await begin(raw, 'a/b')).message).toContain('No image can be called "a/b"')
  // Two names of one folder: the image that is there stays.
  mkdirSync(scratch.at('empty'))
  expect((await bring(raw, 'a_b:c')).state).toBe('done')
  expect((await bring(raw, 'a:b_c')).why).toContain('would stand in the place of "a_b:c"')
})

test('`backlot image import` does the same without a service', async () => {
  const env = { BACKLOT_HOME: scratch.at('home') }
  const { status, stdout, stderr } = await runBacklot(['image', 'import', scratch.at('a.vhdx'), 'mine:v2'], env)
  expect([status, stderr]).toEqual([0, ''])
  const folder = scratch.at('home/cache/images/mine_v2')
  expect(JSON.parse(stdout)).toEqual({ image: 'mine:v2', folder })
  const [listed] = JSON.parse((await runBacklot(['image', 'ls'], env)).stdout)
  expect(listed).toMatchObject({ name: 'mine', tag: 'v2', registry: null })
  expect((await runBacklot(['image', 'import', raw, 'x', '--os', 'plan9'], env)).stderr).toContain('os')
})
