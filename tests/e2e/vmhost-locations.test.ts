import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, rename, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mostDisksBelow } from '@backlot/contract/limits'
import { diskInfo } from '@backlot/native'
import { proving } from '../support/proves.ts'
import { qemu } from '../support/qemu.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, checkDisk, create, get, names, run, small } from '../support/vms.ts'

let host: VmHost
let elsewhere: string

beforeAll(async () => {
  host = await startVmHost()
  elsewhere = mkdtempSync(join(tmpdir(), 'backlot-elsewhere-'))
  for (const name of ['ssd', 'nas']) {
    expect((await call(host, 'POST', '/svc/config/locations', { name, path: join(elsewhere, name) }))[0]).toBe(200)
  }
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  rmSync(elsewhere, { recursive: true, force: true })
})

/** Writes a mark into the first sector of a disk, and reads it. */
const io = (folder: string, command: string) =>
  Bun.spawnSync(['qemu-io', '-f', 'qcow2', '-c', command, join(folder, 'disk.qcow2')])
const mark = (folder: string, pattern: number) => expect(io(folder, `write -P ${pattern} 0 1M`).exitCode).toBe(0)
const isMarked = (folder: string, pattern: number) =>
  !io(folder, `read -P ${pattern} 0 1M`).stdout.toString().includes('Pattern verification failed')

/** The TCP ports of this machine's 127.0.0.1 on which a process listens (proc(5), net/tcp). */
const listensTo = (pid: number | null): number[] => {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state, , , , , , inode]) => {
      return state === '0A' && address?.startsWith('0100007F:') && sockets.includes(`socket:[${inode}]`)
    })
    .map(([, address = '']) => Number.parseInt(address.split(':')[1] ?? '', 16))
}

/** Displays of QEMU begin at 5900. */
const isVncPort = (port: number): boolean => port >= 5900

describe('storage', () => {
  test(
    'is the default location, one that is named, a folder, or one that no list shows unasked',
    proving(['vmhost.settings.storage', 'vmhost.vms.list.storage'], async () => {
      const folder = join(elsewhere, 'loose')
      await create(host, 'usual')
      await create(host, 'named', { storage: 'ssd' })
      await create(host, 'loose', { storage: folder })
      await create(host, 'brief', { storage: 'ephemeral' })
      expect((await names(host)).sort()).toEqual(['named', 'usual'])
      expect(await names(host, '?storage=ssd')).toEqual(['named'])
      expect(await names(host, `?storage=${encodeURIComponent(`${elsewhere}/ssd`)}`)).toEqual(['named'])
      expect(await names(host, `?storage=${encodeURIComponent(folder)}`)).toEqual(['loose'])
      expect(await names(host, '?storage=ephemeral')).toEqual(['brief'])
      expect((await get(host, 'named')).locationName).toBe('ssd')
      expect((await get(host, 'loose', `?storage=${encodeURIComponent(folder)}`)).locationName).toBe(folder)
      expect((await call(host, 'GET', '/svc/vms/brief'))[1].code).toBe('vm_not_found')
      expect((await call(host, 'DELETE', '/svc/vms/brief?storage=ephemeral'))[0]).toBe(200)
      expect((await call(host, 'DELETE', `/svc/vms/loose?storage=${encodeURIComponent(folder)}`))[0]).toBe(200)
    }),
  )

  test(
    'is where run and stop look too',
    proving(['vmhost.run-options.storage', 'vmhost.run-options.no-display'], async () => {
      expect((await call(host, 'POST', '/svc/vms/named/run', { storage: 'home' }))[1].code).toBe('vm_not_found')
      for (const [options, isShown] of [
        [{ no_display: true }, false],
        [{}, true],
      ] as const) {
        const vm = await run(host, 'named', { storage: 'ssd', ...options }, '?storage=ssd')
        expect([vm.vncUrl !== null, listensTo(vm.pid).some(isVncPort)]).toEqual([isShown, isShown])
        expect((await call(host, 'POST', '/svc/vms/named/stop', { storage: 'home' }))[1].code).toBe('vm_not_found')
        expect((await call(host, 'POST', '/svc/vms/named/stop', { storage: 'ssd' }))[0]).toBe(200)
      }
    }),
  )

  test('that is no location is one for every operation, and `set` moves a VM out of it', async () => {
    const folder = join(elsewhere, 'aside')
    const at = `?storage=${encodeURIComponent(folder)}`
    await create(host, 'aside', { storage: folder })
    const ask = async (method: string, path: string, body?: unknown) => {
      const [status, answer] = await call(host, method, `/svc/vms${path}`, body)
      return [status, answer.code ?? 'done']
    }
    expect(await ask('POST', '/aside/setup', { storage: folder })).toEqual([400, 'macos_only'])
    expect(await ask('POST', '/aside/exec', { command: 'true', storage: folder })).toEqual([409, 'vm_not_running'])
    expect(await ask('GET', `/aside/vnc${at}`)).toEqual([409, 'no_screen'])
    expect(await ask('POST', '/aside/run', { noDisplay: true, storage: folder })).toEqual([202, 'done'])
    const cold = { cpu: 3, sourceLocation: folder }
    const refused = await until('the VM to run', async () => {
      const answer = await ask('PATCH', '/aside', cold)
      return answer[1] !== 'vm_busy' && answer
    })
    expect(refused).toEqual([400, 'vm_running'])
    expect(await ask('GET', `/aside/vnc${at}`)).toEqual([409, 'no_screen'])
    expect(await ask('POST', '/aside/stop', { storage: folder })).toEqual([200, 'done'])
    expect(await ask('PATCH', '/aside', cold)).toEqual([200, 'done'])
    const clone = { name: 'aside', newName: 'beside', sourceLocation: folder, destLocation: 'ssd' }
    expect(await ask('POST', '/clone', clone)).toEqual([200, 'done'])

    // Without its folder it is not found, and the answer names the way.
    const lost = await call(host, 'PATCH', '/svc/vms/aside', { storage: 'nas' })
    expect(lost).toEqual([
      400,
      {
        code: 'vm_not_found',
        message: 'Virtual machine not found: aside',
        name: 'aside',
        detail: expect.stringContaining('sourceLocation'),
      },
    ])
    expect(await ask('PATCH', '/aside', { storage: 'nas', source_location: folder })).toEqual([200, 'done'])
    expect([await names(host, at), await names(host, '?storage=nas')]).toEqual([[], ['aside']])
    expect((await get(host, 'aside')).cpuCount).toBe(3)

    // One that cannot move is not changed either.
    await create(host, 'aside')
    const { diskSize } = await get(host, 'aside', '?storage=home')
    const both = { sourceLocation: 'home', storage: 'nas', diskSize: '2GB' }
    expect(await ask('PATCH', '/aside', both)).toEqual([400, 'vm_exists'])
    expect((await get(host, 'aside', '?storage=home')).diskSize.total).toBe(diskSize.total)
    for (const name of ['aside?storage=home', 'aside', 'beside']) {
      expect(await ask('DELETE', `/${name}`)).toEqual([200, 'done'])
    }
  })

  test('that is ephemeral is emptied at the next start of what does not run, and keeps what does', async () => {
    const home = mkdtempSync(join(tmpdir(), 'backlot-brief-'))
    try {
      const first = await startVmHost(['--port', '0'], home)
      await create(first, 'usual')
      for (const name of ['gone', 'kept']) await create(first, name, { storage: 'ephemeral' })
      const { pid } = await run(first, 'kept', { noDisplay: true, storage: 'ephemeral' }, '?storage=ephemeral')
      await first.end()
      await using second = await startVmHost(['--port', '0'], home)
      expect([await names(second), await names(second, '?storage=ephemeral')]).toEqual([['usual'], ['kept']])
      const [, { info }] = await call(second, 'GET', '/svc/logs?type=info')
      expect((info as string[]).map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ event: 'deleted', vm: 'gone', because: 'ephemeral' }),
      )
      expect((await get(second, 'kept', '?storage=ephemeral')).pid).toBe(pid)
      expect((await call(second, 'POST', '/svc/vms/kept/stop', { storage: 'ephemeral' }))[0]).toBe(200)
      // Stopped it can still be started; the next start of the service is the end of it.
      expect(await names(second, '?storage=ephemeral')).toEqual(['kept'])
      await second.end()
      await using third = await startVmHost(['--port', '0'], home)
      expect([await names(third), await names(third, '?storage=ephemeral')]).toEqual([['usual'], []])
      expect(readdirSync(join(home, 'data/ephemeral'))).toEqual([])
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })

  test('holds VMs of the same name apart', async () => {
    await create(host, 'twin')
    await create(host, 'twin', { storage: 'nas', cpu: 3 })
    expect((await get(host, 'twin')).cpuCount).toBe(1)
    expect((await get(host, 'twin', '?storage=nas')).cpuCount).toBe(3)
    expect((await call(host, 'PATCH', '/svc/vms/twin', { storage: 'nas', cpu: 4 }))[0]).toBe(200)
    expect([(await get(host, 'twin')).cpuCount, (await get(host, 'twin', '?storage=nas')).cpuCount]).toEqual([1, 4])
    expect((await call(host, 'POST', '/svc/vms', { ...small, name: 'twin', storage: 'nas' }))[1].code).toBe('vm_exists')
    expect((await call(host, 'DELETE', '/svc/vms/twin?storage=nas'))[0]).toBe(200)
    expect((await get(host, 'twin')).cpuCount).toBe(1)
  })
})

describe('a disk', () => {
  const home = () => join(host.home, 'data/vms')

  test('is shared with clones beside it: each writes for itself alone', async () => {
    await create(host, 'source')
    mark(join(home(), 'source'), 0x11)
    for (const newName of ['left', 'right']) {
      expect((await call(host, 'POST', '/svc/vms/clone', { name: 'source', newName }))[0]).toBe(200)
    }
    // The second clone found an untouched overlay and lies on the same base.
    expect(readdirSync(join(home(), '.bases')).length).toBe(1)
    mark(join(home(), 'source'), 0x22)
    mark(join(home(), 'left'), 0x33)
    expect([
      isMarked(join(home(), 'source'), 0x22),
      isMarked(join(home(), 'left'), 0x33),
      isMarked(join(home(), 'right'), 0x11),
    ]).toEqual([true, true, true])
    // A clone of a clone that was written to, and of one that was grown.
    expect((await call(host, 'POST', '/svc/vms/clone', { name: 'left', newName: 'child' }))[0]).toBe(200)
    expect((await call(host, 'PATCH', '/svc/vms/right', { diskSize: '2GB' }))[0]).toBe(200)
    expect((await call(host, 'POST', '/svc/vms/clone', { name: 'right', newName: 'grown' }))[0]).toBe(200)
    expect((await get(host, 'grown')).diskSize.total).toBe(2 * 2 ** 30)
    expect([isMarked(join(home(), 'child'), 0x33), isMarked(join(home(), 'grown'), 0x11)]).toEqual([true, true])
    for (const name of ['source', 'left', 'right'])
      expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
    expect([isMarked(join(home(), 'child'), 0x33), isMarked(join(home(), 'grown'), 0x11)]).toEqual([true, true])
    expect([checkDisk(join(home(), 'child')), checkDisk(join(home(), 'grown'))]).toEqual([0, 0])
    for (const name of ['child', 'grown']) await call(host, 'DELETE', `/svc/vms/${name}`)
    expect(existsSync(join(home(), '.bases'))).toBe(false)
  })

  test('that lies on many others is copied for a clone, so that no chain grows for ever', async () => {
    await create(host, 'deep')
    const layers = async (name: string) => (await diskInfo(join(home(), name, 'disk.qcow2'))).chain.length
    for (let round = 0; round < mostDisksBelow; round++) {
      io(join(home(), 'deep'), `write -P ${round + 1} ${round}M 1M`)
      expect((await call(host, 'POST', '/svc/vms/clone', { name: 'deep', newName: 'next' }))[0]).toBe(200)
      expect(await layers('next')).toBe(round + 1)
      expect((await call(host, 'DELETE', '/svc/vms/next'))[0]).toBe(200)
    }
    io(join(home(), 'deep'), 'write -P 99 200M 1M')
    expect((await call(host, 'POST', '/svc/vms/clone', { name: 'deep', newName: 'flat' }))[0]).toBe(200)
    expect([await layers('deep'), await layers('flat')]).toEqual([mostDisksBelow, 0])
    qemu(['qemu-img', 'compare', join(home(), 'deep/disk.qcow2'), join(home(), 'flat/disk.qcow2')])
    for (const name of ['deep', 'flat']) await call(host, 'DELETE', `/svc/vms/${name}`)
  })

  test('that was made zero where its base is not gives its zeros to clones', async () => {
    await create(host, 'wiped')
    mark(join(home(), 'wiped'), 0x44)
    expect((await call(host, 'POST', '/svc/vms/clone', { name: 'wiped', newName: 'before' }))[0]).toBe(200)
    // As a guest does that discards a block; the overlay says so and takes no room for it.
    qemu(['qemu-io', '-c', 'write -z -u 0 1M', join(home(), 'wiped/disk.qcow2')])
    expect((await call(host, 'POST', '/svc/vms/clone', { name: 'wiped', newName: 'after' }))[0]).toBe(200)
    qemu(['qemu-img', 'compare', join(home(), 'wiped/disk.qcow2'), join(home(), 'after/disk.qcow2')])
    expect([isMarked(join(home(), 'before'), 0x44), isMarked(join(home(), 'after'), 0x44)]).toEqual([true, false])
    for (const name of ['wiped', 'before', 'after']) await call(host, 'DELETE', `/svc/vms/${name}`)
  })

  test('is copied whole into another location, and moved there by a change of the storage', async () => {
    await create(host, 'wanderer', { userData: '#!/bin/sh\ntrue\n' })
    mark(join(home(), 'wanderer'), 0x44)
    const clone = { name: 'wanderer', newName: 'copy', sourceLocation: 'home', destLocation: 'nas' }
    expect((await call(host, 'POST', '/svc/vms/clone', clone))[0]).toBe(200)
    const copy = join(elsewhere, 'nas/copy')
    expect([isMarked(copy, 0x44), checkDisk(copy), existsSync(join(elsewhere, 'nas/.bases'))]).toEqual([true, 0, false])
    expect(await Bun.file(join(copy, 'seed/user-data')).text()).toBe('#!/bin/sh\ntrue\n')

    const before = await get(host, 'wanderer')
    expect((await call(host, 'PATCH', '/svc/vms/wanderer', { storage: 'ssd', cpu: 2 }))[0]).toBe(200)
    expect(existsSync(join(home(), 'wanderer'))).toBe(false)
    const after = await get(host, 'wanderer')
    expect([after.locationName, after.cpuCount, after.uuid, after.macAddress]).toEqual([
      'ssd',
      2,
      before.uuid,
      before.macAddress,
    ])
    expect([isMarked(join(elsewhere, 'ssd/wanderer'), 0x44), checkDisk(join(elsewhere, 'ssd/wanderer'))]).toEqual([
      true,
      0,
    ])
  })
})

describe('a location', () => {
  test('that is removed keeps its files, and has its VMs again when it is added again', async () => {
    expect((await call(host, 'DELETE', '/svc/config/locations/nas'))[0]).toBe(200)
    expect(await names(host)).not.toContain('copy')
    expect(existsSync(join(elsewhere, 'nas/copy/disk.qcow2'))).toBe(true)
    expect((await call(host, 'POST', '/svc/config/locations', { name: 'old', path: join(elsewhere, 'nas') }))[0]).toBe(
      200,
    )
    expect((await get(host, 'copy')).locationName).toBe('old')
    await call(host, 'DELETE', '/svc/config/locations/old')
  })

  test('on whose files a disk of another lies is not removed', async () => {
    await create(host, 'base', { storage: 'ssd' })
    expect(
      (await call(host, 'POST', '/svc/vms/clone', { name: 'base', newName: 'astray', sourceLocation: 'ssd' }))[0],
    ).toBe(200)
    // Somebody moved it by hand, and left a link to what it lies on.
    const home = join(host.home, 'data/vms')
    await rename(join(elsewhere, 'ssd/astray'), join(home, 'astray'))
    await mkdir(join(home, '.bases'), { recursive: true })
    for (const base of readdirSync(join(elsewhere, 'ssd/.bases'))) {
      await symlink(join(elsewhere, 'ssd/.bases', base), join(home, '.bases', base))
    }
    expect(await call(host, 'DELETE', '/svc/config/locations/ssd')).toEqual([
      400,
      expect.objectContaining({ code: 'location_in_use', disk: join(home, 'astray/disk.qcow2') }),
    ])
    expect((await call(host, 'DELETE', '/svc/vms/astray'))[0]).toBe(200)
    expect((await call(host, 'DELETE', '/svc/config/locations/ssd'))[0]).toBe(200)
  })

  test('that cannot be read, or holds a damaged VM, is named; the others go on', async () => {
    const file = join(elsewhere, 'no-folder')
    await mkdir(file)
    expect((await call(host, 'POST', '/svc/config/locations', { name: 'gone', path: file }))[0]).toBe(200)
    const home = join(host.home, 'data/vms')
    await mkdir(join(home, 'torn'))
    writeFileSync(join(home, 'torn/vm.json'), '{"os":')
    expect((await call(host, 'POST', '/svc/vms/torn/run', {}))[1]).toMatchObject({
      code: 'vm_damaged',
      message: expect.stringContaining(join(home, 'torn/vm.json')),
    })
    expect(await names(host)).toContain('usual')
    const [, { error }] = await call(host, 'GET', '/svc/logs?type=error&lines=1')
    expect(JSON.parse((error as string[])[0] ?? '')).toMatchObject({ event: 'vm_damaged' })
    // A folder that links to itself cannot be read by anybody, root among them.
    rmSync(file, { recursive: true })
    await symlink(file, file)
    expect((await call(host, 'GET', '/svc/vms'))[1].code).toBe('storage_unreadable')
    expect((await get(host, 'usual')).name).toBe('usual')
  })
})
