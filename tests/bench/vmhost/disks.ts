/** What disks cost: an overlay beside `qemu-img`, a clone beside one small file that is replaced durably. */
import { open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createDisk } from '@backlot/native'
import { qemu, Scratch } from '../../support/qemu.ts'
import { startVmHost } from '../../support/vmhost.ts'
import { compiledExample } from '../driver/example.ts'
import { milliseconds, type Row, sideBySide } from '../driver/measure.ts'

/** An overlay, written and not yet synced, and one that is safe and has its name. */
export const overlayRows = async (): Promise<Row[]> => {
  using scratch = new Scratch()
  const base = scratch.at('base.qcow2')
  await createDisk(base, 8 * 2 ** 30)
  const example = await compiledExample('qcow2', 'overlay')
  let folder = 0
  const ours = { written: 0, durable: 0 }
  const theirs = async () => {
    const create = [
      'qemu-img',
      'create',
      '-q',
      '-f',
      'qcow2',
      '-F',
      'qcow2',
      '-b',
      base,
      scratch.at(`theirs-${folder}`),
    ]
    return milliseconds(() => qemu(create))
  }
  const own = async () => {
    const place = scratch.at(`own-${folder++}`)
    qemu(['mkdir', place])
    const lines = qemu([example, place, base, '9']).trim().split('\n')
    const times = lines.map((line) => line.split(' ').map(Number))
    const middle = (column: number) =>
      times.map((each) => each[column] ?? Number.NaN).toSorted((a, b) => a - b)[4] ?? Number.NaN
    ours.written = middle(0) / 1_000
    ours.durable = middle(1) / 1_000
    return ours.written
  }
  const { written, durable, created } = await sideBySide(15, {
    written: own,
    durable: async () => ours.durable,
    created: theirs,
  })
  const floor = { name: '`qemu-img create -b`', spread: created }
  return [
    {
      what: 'overlay written, before the sync',
      unit: 'ms',
      measured: written,
      floor,
      aim: { of: 'ratio', atMost: 1 / 20 },
    },
    { what: 'overlay synced and named', unit: 'ms', measured: durable, floor },
  ]
}

const GiB = 2 ** 30

/** A clone of a VM with 4 GiB of data, over HTTP, its source written to before each. */
export const cloneRows = async (): Promise<Row[]> => {
  await using host = await startVmHost()
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${host.url}/svc/${path}`, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
  const vm = { name: 'source', os: 'linux', cpu: 1, memory: '256MB', diskSize: '8GB', display: '800x600' }
  await ask('POST', 'vms', vm)
  const { homeDirectory } = (await ask('GET', 'config')) as { homeDirectory: string }
  const disk = join(homeDirectory, 'source', 'disk.qcow2')
  // A command of `qemu-io` writes less than 2 GiB.
  qemu(['qemu-io', ...[0, 1, 2, 3].flatMap((at) => ['-c', `write -P 7 ${at}G 1G`]), disk])
  const before = await usedIn(homeDirectory)
  let number = 0
  const clone = async () => {
    const at = 4 * GiB + number * 65536
    // Without this all clones but the first would find a base that is there already.
    qemu(['qemu-io', '-c', `write -P 8 ${at} 64k`, '-c', 'flush', disk])
    const newName = `clone-${number++}`
    return milliseconds(() => ask('POST', 'vms/clone', { name: 'source', newName }))
  }
  const replace = () => milliseconds(() => replaceDurably(homeDirectory, 'small', 'x'.repeat(500)))
  const { cloned, replaced } = await sideBySide(15, { cloned: clone, replaced: replace })
  const grown = (await usedIn(homeDirectory)) - before
  if (grown > number * 2 ** 20) throw new Error(`${number} clones took ${grown} bytes: data was copied`)
  const floor = { name: 'a small file replaced durably', spread: replaced }
  return [
    {
      what: 'clone of a VM with 4 GiB of data, over HTTP',
      unit: 'ms',
      measured: cloned,
      floor,
      aim: { of: 'ratio', atMost: 5 },
    },
  ]
}

const replaceDurably = async (folder: string, name: string, text: string): Promise<void> => {
  const next = join(folder, `.${name}.tmp`)
  await rm(next, { force: true })
  const file = await open(next, 'wx')
  await file.write(text)
  await file.sync()
  await file.close()
  await rename(next, join(folder, name))
  const names = await open(folder, 'r')
  await names.sync()
  await names.close()
}

/** Bytes that the files of a folder take, each counted once. */
const usedIn = async (folder: string): Promise<number> => {
  const seen = new Map<number, number>()
  for (const entry of await readdir(folder, { recursive: true })) {
    const { ino, blocks } = await stat(join(folder, entry))
    seen.set(ino, blocks * 512)
  }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0)
}
