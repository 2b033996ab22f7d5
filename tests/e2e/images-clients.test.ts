/** Unmodified clients read what was pushed here, and pull it through the service; tests/e2e/vmhost-clients runs VMs with them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { runBacklot } from '../support/backlot.ts'
import { linuxMinimal } from '../support/image.ts'
import { lastOf, seenAt } from '../support/python-clients.ts'
import { pythonClients } from '../support/python-packages.ts'
import { pythonWith } from '../support/python-with.ts'
import { Scratch } from '../support/qemu.ts'
import { type Registry, startRegistry } from '../support/registry.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'

const minutes = 60_000
const scratch = new Scratch()
let registry: Registry
let host: VmHost
let built: string

beforeAll(async () => {
  ;[registry, host] = await Promise.all([startRegistry(), startVmHost()])
  built = (await linuxMinimal()).folder
  const images = scratch.at('home/cache/images')
  mkdirSync(images, { recursive: true })
  symlinkSync(built, join(images, basename(built)))
  const words = ['--chunk-size-mb', '32', '--compression', 'gzip']
  const pushed = await runBacklot(
    ['image', 'push', 'linux-minimal', `${registry.address}/tests/minimal:one`, ...words],
    {
      BACKLOT_HOME: scratch.at('home'),
    },
  )
  expect([pushed.status, pushed.stderr]).toEqual([0, ''])
})

afterAll(async () => {
  await Promise.all([host, registry].map((each) => each[Symbol.asyncDispose]()))
  scratch[Symbol.dispose]()
})

const seenBy = (client: keyof typeof pythonClients, script: string) =>
  seenAt(host.port, client, script, {}, [registry.address])

test(
  'oras reads what was pushed, and its parts, unpacked by Python, are the disk',
  async () => {
    const script = join(import.meta.dir, '../support/fixtures/oras_pull.py')
    const python = await pythonWith(pythonClients.oras)
    const { parts, disk } = (await lastOf([python, script, registry.address, scratch.at('oras')])) as {
      parts: boolean[]
      disk: string
    }
    const own = Bun.spawnSync(['sha256sum', join(built, 'disk.raw')])
      .stdout.toString()
      .split(' ')[0]
    expect([disk, parts.length > 1, parts.every(Boolean)]).toEqual([String(own), true, true])
  },
  5 * minutes,
)

test(
  'pylume pulls an image and lists it',
  async () => {
    expect(await seenBy('pylume', 'pylume_pull.py')).toEqual({
      pulled: ['pulled', 'linux', 'stopped'],
      images: ['sha256:'],
    })
  },
  5 * minutes,
)

test(
  'cua-computer pulls an image, hears of one that is not there, and runs the VM',
  async () => {
    expect(await seenBy('computer', 'computer_pull.py')).toEqual({
      pulled: true,
      status: 'stopped',
      refused: true,
      run: true,
      address: expect.stringMatching(/^127\.77\.\d+\.\d+$/),
      stopped: 'stopped',
    })
  },
  5 * minutes,
)

test(
  'cua-sandbox pulls a base, forks it, and hears of one that is not there',
  async () => {
    expect(await seenBy('sandbox', 'sandbox_pull.py')).toEqual({
      base: 'cua-base-pulled',
      checkpoints: ['cua-base-pulled'],
      refused: true,
    })
  },
  5 * minutes,
)
