/** A pull that is broken at random points, by the network and by the sudden death of the service, ends whole. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { backlotCommand } from '../support/backlot.ts'
import { fakeRegistry, publishDisk } from '../support/fake-registry.ts'
import { Scratch } from '../support/qemu.ts'
import { makeCertificate, startRegistry } from '../support/registry.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, ended, get } from '../support/vms.ts'

setDefaultTimeout(limitMs(600_000))

const MiB = 2 ** 20
const breaks = rounds(20)
const chunk = 4 * MiB
const chunks = 32

test(`a pull that is broken ${breaks} times ends with the right disk, and no byte comes twice beyond one chunk a break`, async () => {
  using registry = fakeRegistry()
  const bytes = randomBytes(chunks * chunk)
  publishDisk(registry, 'broken', bytes, (part) => Buffer.from(part), chunk)
  registry.piece = 16 * 1024
  const home = mkdtempSync(join(tmpdir(), 'backlot-images-soak-'))
  let host: VmHost | undefined
  try {
    host = await startVmHost(['--port', '0'], home)
    const body = { image: 'broken', registry: registry.address, organization: 'tests' }
    const [status, { operationId }] = await call(host, 'POST', '/svc/pull/start', body)
    expect(status).toBe(202)
    let known = 0
    for (let round = 0; round < breaks; round++) {
      const before = registry.sent
      const next = before + Math.random() * ((1.6 * bytes.length) / breaks)
      const isOver = async () =>
        (await call(host as VmHost, 'GET', `/svc/operations/${operationId}`))[1].state !== 'running'
      await until('more of it', async () => registry.sent >= next || (await isOver()), 60_000)
      if (await isOver()) break
      if (round % 2 === 0) registry.breakOff()
      else {
        known = Math.max(known, Number((await get(host, 'broken_latest')).downloadedBytes))
        await host.kill()
        host = await startVmHost(['--port', '0'], home)
        expect((await get(host, 'broken_latest')).status).toBe('pulling')
      }
    }
    registry.piece = Number.POSITIVE_INFINITY
    const { state, cause } = await ended(host, String(operationId))
    expect([state, cause]).toEqual(['done', null])
    const wanted = join(home, 'wanted.raw')
    writeFileSync(wanted, bytes)
    const disk = join(home, 'data/vms/broken_latest/disk.qcow2')
    expect(Bun.spawnSync(['qemu-img', 'compare', wanted, disk]).exitCode).toBe(0)
    expect(known).toBeGreaterThan(0)
    expect(registry.sent).toBeLessThan(bytes.length + breaks * chunk)
    expect(readdirSync(join(home, 'cache/images/.store/images'))).toHaveLength(1)
    expect(readdirSync(join(home, 'cache/images/.store/blobs')).filter((name) => name.endsWith('.part'))).toEqual([])
    console.info(`sent ${(registry.sent / bytes.length).toFixed(3)} times the bytes of the image`)
  } finally {
    await host?.[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true })
  }
})

test('prune while VMs are made of images and deleted: no disk misses what it lies on', async () => {
  using registry = fakeRegistry()
  const bytes = randomBytes(4 * MiB)
  publishDisk(registry, 'often', bytes)
  await using host = await startVmHost()
  const wanted = join(host.home, 'wanted.raw')
  writeFileSync(wanted, bytes)
  const state = { isOver: false, pruned: 0 }
  const prune = async () => {
    while (!state.isOver) {
      expect((await call(host, 'POST', '/svc/prune'))[0]).toBe(200)
      state.pruned += 1
    }
  }
  const make = async (lane: number) => {
    for (let round = 0; round < rounds(25); round++) {
      const name = `often-${lane}-${round}`
      const body = { image: 'often', name, registry: registry.address, organization: 'tests' }
      const answer = await call(host, 'POST', '/svc/pull', body)
      expect(answer).toEqual([200, expect.objectContaining({ name })])
      if (round % 3 === 0) {
        expect((await call(host, 'POST', '/svc/vms/clone', { name, newName: `${name}-copy` }))[0]).toBe(200)
      }
      const last = round % 3 === 0 ? `${name}-copy` : name
      const disk = join(host.home, 'data/vms', last, 'disk.qcow2')
      expect(Bun.spawnSync(['qemu-img', 'compare', wanted, disk]).exitCode).toBe(0)
      for (const each of new Set([name, last])) expect((await call(host, 'DELETE', `/svc/vms/${each}`))[0]).toBe(200)
    }
  }
  const pruning = prune()
  try {
    await Promise.all([make(0), make(1), make(2)])
  } finally {
    state.isOver = true
    await pruning
  }
  expect(state.pruned).toBeGreaterThan(0)
})

test('a push over https has no layer in memory whole', async () => {
  using scratch = new Scratch()
  const certified = makeCertificate(scratch.folder)
  await using registry = await startRegistry(undefined, certified)
  const env = { ...process.env, BACKLOT_HOME: scratch.at('home'), NODE_EXTRA_CA_CERTS: certified.certificate }
  const size = 512 * MiB
  for (let at = 0; at < size; at += 16 * MiB) appendFileSync(scratch.at('random.raw'), randomBytes(16 * MiB))
  const name = `${registry.address}/tests/random:v1`
  let most = 0
  for (const words of [
    ['import', scratch.at('random.raw'), 'random:v1'],
    ['push', 'random:v1', name],
  ]) {
    const child = Bun.spawn(backlotCommand('image', ...words), { env, stdout: 'ignore', stderr: 'inherit' })
    const look = setInterval(() => {
      most = Math.max(most, mostMemory(child.pid))
    }, 20)
    expect(await child.exited).toBe(0)
    clearInterval(look)
  }
  console.info(`${Math.round(most / MiB)} MB of memory`)
  expect([most > 0, most < size / 2]).toEqual([true, true])
})

/** Bytes of memory that a process has had at most; 0 where it has ended. */
const mostMemory = (pid: number): number => {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
