/** Sandboxes that are VMs of a service, with the service's own records and `qemu-img` as witnesses; no guest boots. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Image, type Progress, type Runtime, type RuntimeInfo, runtimes, type SandboxInfo } from '@backlot/sdk'
import { backlotCommand, runBacklot } from '../support/backlot.ts'
import { serveDisk } from '../support/disk-server.ts'
import { runProgram } from '../support/guest.ts'
import { proving } from '../support/proves.ts'
import { Scratch } from '../support/qemu.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, get, names } from '../support/vms.ts'

const scratch = new Scratch()
const raw = scratch.at('plain.raw')
const bytes = Buffer.alloc(2 ** 20, 'what a disk holds')
let host: VmHost
let runtime: Runtime

beforeAll(async () => {
  writeFileSync(raw, bytes)
  host = await startVmHost()
  runtime = runtimes.vmhost({ url: host.url })
})

afterAll(async () => {
  await host[Symbol.asyncDispose]()
  scratch[Symbol.dispose]()
})

const small = { memoryMb: 64, cpu: 1 } as const

const disk = (name: string): string => join(host.home, 'data/vms', name, 'disk.qcow2')

/** What `qemu-img` says of the disk of a VM that runs. */
const isSame = (name: string): boolean =>
  Bun.spawnSync(['qemu-img', 'compare', '-U', '-f', 'raw', '-F', 'qcow2', raw, disk(name)]).exitCode === 0

const statusOf = async (name: string): Promise<SandboxInfo['status'] | undefined> =>
  (await runtime.list()).find((each) => each.name === name)?.status

test('a service that does not answer, and one whose VMs this machine does not reach, are told with the way out', async () => {
  expect(await runtime.check()).toMatchObject({ available: true, features: { suspend: 'memory', fork: 'memory' } })
  const dead = await runtimes.vmhost({ url: 'http://127.0.0.1:9' }).check()
  expect(dead).toMatchObject({ available: false, reason: expect.stringContaining('backlot serve') })
  const far = await runtimes.vmhost({ url: 'http://elsewhere.example:7777' }).check()
  expect(far).toMatchObject({ available: false, reason: expect.stringContaining('elsewhere.example') })
})

test(
  'disks of each format, packed, and behind an address, are what VMs start from',
  proving(
    ['sandbox.image.from-file.formats', 'sandbox.image.from-file.url', 'sandbox.image.from-file.zip'],
    async () => {
      sandboxHome()
      const at = (name: string) => scratch.at(name)
      for (const [format, name] of [
        ['qcow2', 'a.qcow2'],
        ['vhdx', 'b.vhdx'],
        ['raw', 'c.img'],
      ] as const) {
        await runProgram('qemu-img', 'convert', '-f', 'raw', '-O', format, raw, at(name))
      }
      const pack =
        'import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z: z.write(sys.argv[2], "disk.qcow2")'
      await runProgram('python3', '-c', pack, at('d.zip'), at('a.qcow2'))
      using served = await serveDisk(bytes)
      const sources = [raw, at('a.qcow2'), at('b.vhdx'), at('c.img'), at('d.zip'), served.url]
      for (const [index, path] of sources.entries()) {
        const name = `disk-${index}`
        const info: RuntimeInfo = await runtime.start(Image.fromFile(path), name, small)
        const { guestOs, status, forwards } = await get(host, name)
        expect([guestOs, status, isSame(name)]).toEqual(['windows', 'running', true])
        expect(forwards).toContainEqual({ guestPort: 8_000, address: info.host, port: info.apiPort })
        await runtime.stop(name)
      }
      expect(await names(host)).toEqual([])
    },
  ),
)

test(
  'an ISO is a CD-ROM beside an empty disk',
  proving(['sandbox.image.from-file.iso'], async () => {
    sandboxHome()
    const iso = scratch.at('setup.iso')
    // The first volume descriptor of ISO 9660.
    const disc = Buffer.alloc(64 * 2_048)
    disc.write('\x01CD001\x01', 16 * 2_048, 'latin1')
    writeFileSync(iso, disc)
    await runtime.start(Image.fromFile(iso), 'setup', small)
    const { stdout } = Bun.spawnSync(['qemu-img', 'info', '-U', '--output=json', disk('setup')])
    expect(JSON.parse(stdout.toString())).toMatchObject({ format: 'qcow2' })
    const { pid } = await get(host, 'setup')
    const words = (await Bun.file(`/proc/${pid}/cmdline`).text()).split('\0')
    expect(words.filter((word) => word.startsWith('ide-cd'))).toHaveLength(1)
    expect(words.some((word) => word.includes('"node-name":"iso"') && word.includes('"read-only":true'))).toBe(true)
    await runtime.stop('setup')
  }),
)

test(
  'a VM is suspended, kept and continued by the service',
  proving(['sandbox.state.suspended.vmhost'], async () => {
    sandboxHome()
    await runtime.start(Image.fromFile(raw), 'kept', small)
    const before = await get(host, 'kept')
    await runtime.suspend('kept')
    expect([(await get(host, 'kept')).status, await statusOf('kept')]).toEqual(['suspended', 'suspended'])
    await runtime.resume(Image.fromFile(raw), 'kept')
    expect(await get(host, 'kept')).toMatchObject({ status: 'running', uuid: before.uuid })

    const saved = await runtime.snapshot('kept', { name: 'early' })
    expect(saved).toMatchObject({ id: 'kept.early', name: 'early', sandbox: 'kept', source: 'vmhost', memory: true })
    const ids: string[] = []
    for await (const { id } of runtime.listSnapshots()) ids.push(id)
    const [, told] = await call(host, 'GET', '/svc/vms/kept/snapshots')
    expect([ids, (told as unknown as { name: string }[]).map(({ name }) => name)]).toEqual([['kept.early'], ['early']])
    await runtime.restore('kept', saved)
    expect((await get(host, 'kept')).status).toBe('running')
    // Another starts from it; a guest without an agent has what its parent has, and that is told.
    const notes: string[] = []
    const onProgress = (progress: Progress) => void (progress.phase === 'note' && notes.push(progress.message))
    const info = await runtime.start(saved, 'other', { ...small, onProgress })
    const other = await get(host, 'other')
    expect([other.status, other.identity, isSame('other')]).toEqual(['running', 'shared', true])
    expect(other.forwards).toContainEqual({ guestPort: 8_000, address: info.host, port: info.apiPort })
    expect(notes).toEqual([expect.stringContaining('"other" has no agent')])
    await runtime.stop('other')
    await expect(runtime.start(saved, 'other', { cpu: 2 })).rejects.toMatchObject({
      code: 'invalid_argument',
      data: { argument: 'cpu' },
    })
    await runtime.stop('other')
    await expect(runtime.start({ ...saved, id: 'kept.none' }, 'other')).rejects.toMatchObject({
      code: 'snapshot_not_found',
    })
    await saved.delete()
    expect(await call(host, 'GET', '/svc/vms/kept/snapshots')).toEqual([200, [] as never])
    const logged: string[] = []
    for await (const line of runtime.logs('kept')) logged.push(String(JSON.parse(line).event))
    expect(logged).toContain('create')
    await runtime.stop('kept')
    await runtime.stop('kept')
    expect(await names(host)).toEqual([])
  }),
)

test('a shell makes one of a disk, and nothing of it is left where it is interrupted', async () => {
  const { folder } = sandboxHome()
  const env = { ...process.env, BACKLOT_HOME: folder, BACKLOT_HOST_URL: host.url }
  const words = [
    'sandbox',
    'create',
    'typed',
    '--runtime',
    'vmhost',
    '--disk',
    raw,
    '--os',
    'windows',
    '--memory-mb',
    '64',
  ]
  const child = Bun.spawn(backlotCommand(...words), { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  await until(
    'the VM to run',
    async () => (await names(host)).includes('typed') && (await get(host, 'typed')).status === 'running',
  )
  expect([(await get(host, 'typed')).guestOs, isSame('typed')]).toEqual(['windows', true])
  child.kill('SIGINT')
  expect([await child.exited, await child.stderr.text()]).toEqual([1, expect.stringContaining('interrupted')])
  // What it had no time to end, the next one ends.
  await until('it to be gone', async () => {
    await runBacklot(['sandbox', 'list', '--runtime', 'vmhost'], env as Record<string, string>)
    return (await names(host)).length === 0
  })
  for (const wrong of [
    ['--image', 'a', '--disk', raw],
    ['--image', 'a', '--os', 'linux'],
    ['--disk', raw, '--os', 'beos'],
  ]) {
    const { status, stderr } = await runBacklot(['sandbox', 'create', ...wrong], env as Record<string, string>)
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^error: "?--(os|disk|image)/)])
  }
})
