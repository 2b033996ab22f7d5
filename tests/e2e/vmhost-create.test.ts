import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveDisk } from '../support/disk-server.ts'
import { proving } from '../support/proves.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, checkDisk, create, ended, get, names, run, small } from '../support/vms.ts'

let host: VmHost
let files: string

beforeAll(async () => {
  host = await startVmHost()
  files = mkdtempSync(join(tmpdir(), 'backlot-disks-'))
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(files, { recursive: true, force: true })
})

const folder = (name: string) => join(host.home, 'data/vms', name)
const disk = (name: string) => join(folder(name), 'disk.qcow2')
const tool = (...words: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: files })
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
}

/** A raw disk of so many MiB whose every MiB differs. */
const rawDisk = (name: string, mebibytes: number): string => {
  const bytes = Buffer.alloc(mebibytes * 2 ** 20)
  for (let index = 0; index < bytes.length; index += 4) bytes.writeUInt32LE((index * 2654435761) >>> 0, index)
  writeFileSync(join(files, name), bytes)
  return join(files, name)
}

/** Whether the VM's disk begins with what the file holds, as `qemu-img` sees it. */
const showsWhat = (name: string, path: string): boolean =>
  Bun.spawnSync(['qemu-img', 'compare', path, disk(name)]).exitCode === 0

/** A disc image that starts a program which writes to the first serial port (El Torito, without emulation). */
const bootableDisc = (name: string, text: string): string => {
  const sector = 2048
  const disc = Buffer.alloc(32 * sector)
  const descriptor = (at: number, kind: number) => {
    disc.writeUInt8(kind, at * sector)
    disc.write('CD001\x01', at * sector + 1, 'latin1')
  }
  descriptor(16, 1)
  descriptor(17, 0)
  descriptor(18, 255)
  const [catalog, program] = [19, 20]
  disc.write('EL TORITO SPECIFICATION', 17 * sector + 7)
  disc.writeUInt32LE(catalog, 17 * sector + 0x47)
  // Validation: all words of the entry add up to zero. Then: bootable, no emulation, four sectors of 512 bytes.
  disc.writeUInt8(1, catalog * sector)
  disc.writeUInt16LE(0xaa55, catalog * sector + 30)
  disc.writeUInt16LE(0x10000 - 0xaa55 - 1, catalog * sector + 28)
  disc.writeUInt8(0x88, catalog * sector + 32)
  disc.writeUInt16LE(4, catalog * sector + 38)
  disc.writeUInt32LE(program, catalog * sector + 40)
  // push cs; pop ds; call next; next: pop si; add si, text - next; cld
  const start = [0x0e, 0x1f, 0xe8, 0, 0, 0x5e, 0x83, 0xc6, 0x13, 0xfc]
  // again: lodsb; or al, al; jz end; mov dx, 0x3f8; out dx, al; jmp again; end: hlt; jmp end
  const loop = [0xac, 0x08, 0xc0, 0x74, 6, 0xba, 0xf8, 3, 0xee, 0xeb, 0xf5, 0xf4, 0xeb, 0xfd]
  disc.set([...start, ...loop], program * sector)
  disc.write(text, program * sector + start.length + loop.length)
  writeFileSync(join(files, name), disc)
  return join(files, name)
}

const refused = async (body: Record<string, unknown>) => {
  const answer = await call(host, 'POST', '/svc/vms', { ...small, name: 'refused', ...body })
  expect(await names(host)).not.toContain('refused')
  expect(answer[0]).toBe(400)
  return String(answer[1].code)
}

describe('a VM is made', () => {
  test('with an empty disk of the size that was asked for', async () => {
    await create(host, 'blank', { diskSize: '2.5GB' })
    expect((await get(host, 'blank')).diskSize.total).toBe(2.5 * 2 ** 30)
    expect(checkDisk(folder('blank'))).toBe(0)
  })

  test('of a disk file of any format, which stays as it was', async () => {
    const raw = rawDisk('disk.raw', 3)
    for (const format of ['raw', 'qcow2', 'vmdk', 'vdi', 'vhdx']) {
      const path = join(files, `disk.${format}`)
      if (format !== 'raw') tool('qemu-img', 'convert', '-O', format, raw, path)
      await create(host, `of-${format}`, { image: path, diskSize: '64MB' })
      expect([format, showsWhat(`of-${format}`, raw), checkDisk(folder(`of-${format}`))]).toEqual([format, true, 0])
      expect((await get(host, `of-${format}`)).diskSize.total).toBe(64 * 2 ** 20)
    }
  })

  test('to install from a disc image, which is no copy and is started while the disk is empty', async () => {
    const iso = bootableDisc('install.iso', 'started from the disc')
    await create(host, 'installed', { iso })
    expect(await get(host, 'installed')).toMatchObject({ iso, image: null })
    await run(host, 'installed')
    const serial = join(folder('installed'), 'serial.log')
    await until('the disc to be started', async () => (await Bun.file(serial).text()).includes('started from the disc'))
    expect((await call(host, 'POST', '/svc/vms/installed/stop'))[0]).toBe(200)
    rmSync(iso)
    const { operationId } = (await call(host, 'POST', '/svc/vms/installed/run'))[1]
    const operation = await ended(host, String(operationId))
    expect([operation.state, operation.cause?.code]).toEqual(['failed', 'file_not_found'])
    expect(await get(host, 'installed')).toMatchObject({ status: 'stopped', lastError: expect.stringContaining(iso) })
  })

  test(
    'or not at all: what is wrong is named, and nothing is left',
    proving(['vmhost.vms.create.refused'], async () => {
      const before = readdirSync(join(host.home, 'data/vms'))
      const raw = join(files, 'disk.raw')
      writeFileSync(join(files, 'packed.img'), Bun.gzipSync(new Uint8Array(1024)))
      writeFileSync(join(files, 'odd.img'), 'no whole number of sectors')
      tool('qemu-img', 'create', '-q', '-f', 'qcow2', 'broken.qcow2', '1M')
      const broken = Buffer.from(await Bun.file(join(files, 'broken.qcow2')).bytes())
      broken.fill(0xff, 24, 56)
      writeFileSync(join(files, 'broken.qcow2'), broken)
      const damaged = join(host.home, 'cache/images/damaged_latest')
      tool('mkdir', '-p', damaged)
      writeFileSync(join(damaged, 'image.json'), '{"name":"damaged"}')
      const { name: _, ...nameless } = { ...small, name: '' }
      expect((await call(host, 'POST', '/svc/vms', nameless))[1]).toMatchObject({
        message: 'Invalid request body',
        detail: expect.stringContaining('"name"'),
      })
      const codes: Record<string, string> = {}
      for (const [label, body] of Object.entries({
        'another name': { name: '../up' },
        'a hidden name': { name: '.hidden' },
        'another system': { os: 'windows' },
        'no core': { cpu: 0 },
        'half a core': { cpu: 1.5 },
        'memory without a number': { memory: 'much' },
        'next to no memory': { memory: '1MB' },
        'next to no disk': { diskSize: '1KB' },
        'a disk beyond all': { diskSize: '9TB' },
        'another display': { display: 'large' },
        'a display wider than QEMU shows': { display: '2561x1600' },
        'a display higher than QEMU shows': { display: '1024x2049' },
        'an unknown location': { storage: 'nowhere' },
        'a relative folder': { storage: 'a/b' },
        'two sources': { image: raw, iso: raw },
        'no such file': { image: join(files, 'none.img') },
        'no such disc': { iso: join(files, 'none.iso') },
        'a folder': { image: files },
        'a relative path': { image: './disk.raw' },
        'a broken address': { image: 'https://[' },
        'a packed file': { image: join(files, 'packed.img') },
        'an odd file': { image: join(files, 'odd.img') },
        'a broken image': { image: join(files, 'broken.qcow2') },
        'an image larger than the disk': { image: raw, diskSize: '1MB' },
        'an unknown image': { image: 'nothing:latest' },
        'an image beyond the folder': { image: '..:latest' },
        'a damaged image': { image: 'damaged:latest' },
        macOS: { os: 'macOS', ipsw: 'latest' },
        'an ipsw for Linux': { ipsw: 'latest' },
      })) {
        codes[label] = await refused(body)
      }
      expect(codes).toEqual({
        'another name': 'invalid_body',
        'a hidden name': 'invalid_body',
        'another system': 'invalid_body',
        'no core': 'invalid_body',
        'half a core': 'invalid_body',
        'memory without a number': 'invalid_body',
        'next to no memory': 'invalid_argument',
        'next to no disk': 'invalid_argument',
        'a disk beyond all': 'invalid_argument',
        'another display': 'invalid_body',
        'a display wider than QEMU shows': 'invalid_argument',
        'a display higher than QEMU shows': 'invalid_argument',
        'an unknown location': 'location_not_found',
        'a relative folder': 'invalid_directory',
        'two sources': 'invalid_argument',
        'no such file': 'file_not_found',
        'no such disc': 'file_not_found',
        'a folder': 'file_not_found',
        'a relative path': 'invalid_directory',
        'a broken address': 'invalid_argument',
        'a packed file': 'disk_unsupported',
        'an odd file': 'disk_unsupported',
        'a broken image': 'disk_tool_failed',
        'an image larger than the disk': 'invalid_argument',
        'an unknown image': 'image_not_found',
        'an image beyond the folder': 'image_not_found',
        'a damaged image': 'image_damaged',
        macOS: 'macos_unavailable',
        'an ipsw for Linux': 'macos_only',
      })
      expect(readdirSync(join(host.home, 'data/vms'))).toEqual(before)
      const again = await call(host, 'POST', '/svc/vms', { ...small, name: 'blank' })
      expect([again[0], again[1].code]).toEqual([400, 'vm_exists'])
    }),
  )

  test('under a name with a colon by clients that mean an image, and found so by every operation', async () => {
    await create(host, 'ubuntu_22.04')
    expect((await call(host, 'GET', '/lume/vms/ubuntu:22.04'))[1].name).toBe('ubuntu_22.04')
    expect((await call(host, 'PATCH', '/svc/vms/ubuntu:22.04', { cpu: 2 }))[0]).toBe(200)
    expect((await call(host, 'POST', '/svc/vms/clone', { name: 'ubuntu:22.04', newName: 'copy' }))[0]).toBe(200)
    expect((await call(host, 'DELETE', '/svc/vms/ubuntu%3A22.04'))[0]).toBe(200)
    expect(await names(host)).not.toContain('ubuntu_22.04')
  })
})

test('a disk that does not begin as one is not taken for a raw one', async () => {
  await create(host, 'torn')
  const kept = join(host.home, 'data/vms/.bases')
  const bases = () => (existsSync(kept) ? readdirSync(kept).sort() : [])
  const before = bases()
  const torn = readFileSync(disk('torn'))
  torn.write('torn', 0)
  writeFileSync(disk('torn'), torn)
  for (const [method, path, body] of [
    ['PATCH', '/svc/vms/torn', { diskSize: '20GB' }],
    ['POST', '/svc/vms/clone', { name: 'torn', newName: 'torn-too' }],
  ] as const) {
    const [status, answer] = await call(host, method, path, body)
    expect([status, answer]).toEqual([400, expect.objectContaining({ code: 'disk_corrupt' })])
    expect(answer.message).toContain('it does not begin as a qcow2 file')
  }
  expect(readFileSync(disk('torn')).equals(torn)).toBe(true)
  expect(bases()).toEqual(before)
  await call(host, 'DELETE', '/svc/vms/torn')
})

describe('a VM of an address', () => {
  const fetchInto = async (name: string, url: string) => {
    const made = await create(host, name, { image: url, diskSize: '64MB' })
    expect(made.status).toBe('provisioning')
    return String(made.operationId)
  }

  test('is shown with its progress while it is fetched, and is whole afterwards', async () => {
    const raw = rawDisk('fetched.raw', 4)
    using server = await serveDisk(await Bun.file(raw).bytes())
    const held = Promise.withResolvers<void>()
    Object.assign(server.state, { hold: held.promise, cutAfter: 3 * 2 ** 20 })
    const id = await fetchInto('fetched', `${server.url}?secret=1`)
    const vm = await until('three of four MiB', async () => {
      const now = await get(host, 'fetched')
      return now.downloadedBytes === 3 * 2 ** 20 && now
    })
    expect(structuredClone(vm)).toMatchObject({
      status: 'provisioning',
      provisioningOperation: 'downloading',
      downloadProgress: 75,
      totalBytes: 4 * 2 ** 20,
      bytesPerSecond: expect.any(Number),
      operationId: id,
      ipAddress: null,
      image: server.url,
    })
    for (const [method, path, body] of [
      ['POST', '/svc/vms/fetched/run'],
      ['DELETE', '/svc/vms/fetched'],
      ['POST', '/svc/vms/clone', { name: 'fetched', newName: 'x' }],
    ] as const) {
      expect((await call(host, method, path, body))[1].code).toBe('vm_busy')
    }
    expect((await call(host, 'POST', '/svc/vms', { ...small, name: 'fetched' }))[1].code).toBe('vm_exists')
    // The server breaks off; the rest is asked for, and nothing twice.
    server.state.cutAfter = Number.POSITIVE_INFINITY
    held.resolve()
    expect((await ended(host, id)).state).toBe('done')
    expect(server.state.requests).toEqual(['0', String(3 * 2 ** 20)])
    expect(await get(host, 'fetched')).toMatchObject({ status: 'stopped', downloadProgress: null })
    expect([showsWhat('fetched', raw), checkDisk(folder('fetched'))]).toEqual([true, 0])
  })

  test('is not fetched again while the server says that it is the same, and is when it is not', async () => {
    const raw = rawDisk('again.raw', 1)
    using server = await serveDisk(await Bun.file(raw).bytes())
    for (const [name, etag] of [
      ['first', '"one"'],
      ['second', '"one"'],
      ['third', '"two"'],
    ] as const) {
      server.state.etag = etag
      expect((await ended(host, await fetchInto(name, server.url))).state).toBe('done')
      expect(showsWhat(name, raw)).toBe(true)
    }
    expect(server.state.requests).toEqual(['0', 'same?', '0'])
  })

  test(
    'is kept for the next one by a host that caches images, and forgotten by one that does not',
    proving(['vmhost.config.caching-enabled'], async () => {
      const raw = rawDisk('cached.raw', 1)
      using server = await serveDisk(await Bun.file(raw).bytes())
      const kept = () => readdirSync(join(host.home, 'cache/images/downloads')).filter((name) => name.endsWith('.disk'))
      const fetchWith = async (cachingEnabled: boolean, name: string) => {
        expect((await call(host, 'POST', '/svc/config', { cachingEnabled }))[0]).toBe(200)
        const before = kept()
        expect((await ended(host, await fetchInto(name, server.url))).state).toBe('done')
        return kept().length - before.length
      }
      expect([await fetchWith(false, 'uncached'), await fetchWith(false, 'uncached-too')]).toEqual([0, 0])
      expect([await fetchWith(true, 'cached'), await fetchWith(true, 'cached-too')]).toEqual([1, 0])
      expect(server.state.requests).toEqual(['0', '0', '0', 'same?'])
      expect(showsWhat('cached-too', raw)).toBe(true)
    }),
  )

  test('that is cancelled leaves nothing but what the next one goes on with', async () => {
    const raw = rawDisk('cancelled.raw', 2)
    using server = await serveDisk(await Bun.file(raw).bytes())
    const held = Promise.withResolvers<void>()
    Object.assign(server.state, { hold: held.promise, cutAfter: 2 ** 20 })
    const id = await fetchInto('cancelled', server.url)
    await until('half of it', async () => (await get(host, 'cancelled')).downloadedBytes === 2 ** 20)
    expect((await call(host, 'DELETE', `/svc/operations/${id}`))[0]).toBe(200)
    expect((await ended(host, id)).state).toBe('cancelled')
    held.resolve()
    expect((await call(host, 'GET', '/svc/vms/cancelled'))[1].code).toBe('vm_not_found')
    expect(readdirSync(join(host.home, 'data/vms')).filter((entry) => entry.startsWith('.new-'))).toEqual([])
    Object.assign(server.state, { hold: undefined, cutAfter: Number.POSITIVE_INFINITY })
    expect((await ended(host, await fetchInto('cancelled', server.url))).state).toBe('done')
    expect(server.state.requests).toEqual(['0', String(2 ** 20)])
    expect(showsWhat('cancelled', raw)).toBe(true)
  })

  test('that cannot be fetched, or is no whole disk, says so', async () => {
    tool('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', '/etc/hostname', '-F', 'raw', 'overlay.qcow2', '1M')
    using overlay = await serveDisk(await Bun.file(join(files, 'overlay.qcow2')).bytes())
    // A vmdk that is nothing but the name of a file of this machine.
    const extent = ['createType="monolithicFlat"', 'RW 1 FLAT "/etc/hostname" 0', 'ddb.adapterType = "ide"']
    const text = ['# Disk DescriptorFile', 'version=1', 'CID=fffffffe', 'parentCID=ffffffff', ...extent, ''].join('\n')
    using extents = await serveDisk(new TextEncoder().encode(text))
    using sparse = await serveDisk(await Bun.file(join(files, 'disk.vmdk')).bytes())
    const outcome = async (name: string, url: string) => {
      const { state, cause } = await ended(host, await fetchInto(name, url))
      expect(existsSync(folder(name))).toBe(false)
      return [state, cause?.code, cause?.message.includes('/etc/hostname')]
    }
    const { port } = new URL(overlay.url)
    const secret = `http://user:sesame@127.0.0.1:${port}/other.raw?token=sesame`
    expect(await outcome('missing', secret)).toEqual(['failed', 'download_failed', false])
    expect(await outcome('overlay', overlay.url)).toEqual(['failed', 'disk_unsupported', true])
    expect(await outcome('extents', extents.url)).toEqual(['failed', 'disk_unsupported', true])
    expect((await ended(host, await fetchInto('sparse', sparse.url))).state).toBe('done')
    const [told, logged] = [await call(host, 'GET', '/svc/operations'), await call(host, 'GET', '/svc/logs')]
    expect(JSON.stringify([told, logged])).toContain('/other.raw')
    expect(JSON.stringify([told, logged])).not.toContain('sesame')
    expect(host.log()).not.toContain('sesame')
  })
})
