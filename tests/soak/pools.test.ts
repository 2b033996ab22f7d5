/**
 * The service and hypervisors are killed at random moments while a warm pool is filled, taken from and emptied: a fork that was
 * reported runs on under its name, nothing is left of the others, and two services on one home never have two pools.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { Image, type Runtime, runtimes, Sandbox, WarmPool } from '@backlot/sdk'
import { giveAcceleration } from '../support/acceleration.ts'
import { sandboxHome } from '../support/sandbox-home.ts'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { call, checkDisk, create, get, giveImage, image, isAlive, run } from '../support/vms.ts'

setDefaultTimeout(limitMs(900_000))

const kills = rounds(20)
const readyMs = 120_000

const chosen = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T

const inside = async (host: VmHost, name: string, command: string): Promise<string> => {
  const [, body] = await call(host, 'POST', `/svc/vms/${name}/exec`, { command })
  return String(body.stdout ?? JSON.stringify(body)).trim()
}

const pool = async (host: VmHost, body: object) => (await call(host, 'POST', '/svc/vms/parent/pool', body))[1]

const work = {
  fill: async (host: VmHost) => void (await pool(host, { size: 3 })),
  empty: async (host: VmHost) => void (await pool(host, { size: 0 })),
  take: (host: VmHost, name: string) => call(host, 'POST', '/svc/vms/parent/fork', { names: [name] }),
} as const

test('a pool loses no fork that it handed out, and leaves none that nobody wants', async () => {
  await using owner = await startVmHost()
  let host: VmHost = owner
  try {
    await giveImage(host)
    await create(host, 'parent', { image })
    await run(host, 'parent')
    const boot = await inside(host, 'parent', 'cat /proc/sys/kernel/random/boot_id')
    expect((await call(host, 'POST', '/svc/vms/parent/suspend'))[0]).toBe(200)
    const vms = join(host.home, 'data/vms')
    const waiting = () => readdirSync(vms).filter((entry) => entry.startsWith('.pool-'))
    const pidOf = (entry: string): number | undefined => {
      try {
        return Number(readFileSync(join(vms, entry, 'hypervisor.pid'), 'utf8')) || undefined
      } catch {
        return undefined
      }
    }
    for (let round = 0; round < kills; round++) {
      const verb = chosen(Object.keys(work) as (keyof typeof work)[])
      await pool(host, { size: 2 })
      await until('a fork that is ready', async () => Number((await pool(host, {})).ready) > 0, readyMs)
      const name = `fork-${round}`
      const asked = work[verb](host, name).catch(() => undefined)
      await Bun.sleep(Math.random() * 1_500)
      const before = waiting().flatMap((entry) => pidOf(entry) ?? [])
      const isService = Math.random() < 0.7
      const victim = chosen(before)
      if (isService) await host.kill()
      else if (victim !== undefined && isAlive(victim)) process.kill(victim, 'SIGKILL')
      const answer = await asked
      if (isService) host = await startVmHost(['--port', '0'], host.home)
      // Of those that waited for a service that is dead, only one that has got its name may live.
      const all = (await call(host, 'GET', '/svc/vms'))[1] as unknown as Vm[]
      const named = all.map(({ pid }) => pid)
      if (isService)
        await until('the forks before to be gone', () => before.every((pid) => !isAlive(pid) || named.includes(pid)))
      const seen = { round, verb, isService, answer: answer?.[0] }
      const made = all.find((vm) => vm.name === name)
      if (answer?.[0] === 200) expect({ ...seen, status: made?.status }).toEqual({ ...seen, status: 'running' })
      if (made?.status === 'running') {
        const words = await inside(host, name, 'cat /proc/sys/kernel/random/boot_id; hostname')
        if (answer?.[0] === 200) expect({ ...seen, words }).toEqual({ ...seen, words: `${boot}\n${name}` })
        expect((await call(host, 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 0 }))[0]).toBe(200)
      }
      if (made !== undefined) {
        expect(checkDisk(join(vms, name))).toBe(0)
        expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
      }
    }
    // Another service on this home has no charge of it.
    await pool(host, { size: 1 })
    await until('a fork that is ready', async () => (await pool(host, {})).ready === 1, readyMs)
    {
      await using other = await startVmHost(['--port', '0'], host.home)
      expect((await pool(other, { size: 2 })).code).toBe('already_running')
      expect(waiting()).toHaveLength(1)
    }
    // Whoever lets the parent go on has no use for its forks.
    const [last = ''] = waiting()
    const pid = pidOf(last) ?? 0
    expect((await call(host, 'POST', '/svc/vms/parent/resume'))[0]).toBe(200)
    await until('the pool to be empty', () => waiting().length === 0 && !isAlive(pid))
    expect((await call(host, 'POST', '/svc/vms/parent/stop', { graceSeconds: 0 }))[0]).toBe(200)
    expect((await get(host, 'parent')).status).toBe('stopped')
    expect(checkDisk(join(vms, 'parent'))).toBe(0)
    expect((await call(host, 'DELETE', '/svc/vms/parent'))[0]).toBe(200)
    await until('the folder to be empty', () => readdirSync(vms).every((entry) => entry === '.bases.lock'))
  } finally {
    if (host !== owner) await host[Symbol.asyncDispose]()
  }
})

/** Forks of a template that wait are claimed as sandboxes; `vms` is the folder of the host's VMs. */
const claimsFrom = async (runtime: Runtime, vms: string): Promise<void> => {
  const about = { runtime, memoryMb: 512, diskGb: 1, timeoutMs: readyMs } as const
  const source = Image.fromRegistry(image).run('cat /proc/sys/kernel/random/boot_id >/var/boots')
  const pool = await WarmPool.apply(source, { ...about, name: 'kept', size: 2 })
  const isReady = () => until('forks that are ready', async () => (await pool.getInfo()).ready === 2, readyMs)
  await isReady()
  expect(await pool.getInfo()).toEqual({ name: 'kept', size: 2, ready: 2, starting: 0 })
  expect((await WarmPool.list({ runtime })).map(({ name }) => name)).toEqual(['kept'])
  expect((await WarmPool.get('kept', { runtime })).name).toBe('kept')
  // None of them is a sandbox yet.
  expect(await Sandbox.list({ local: true })).toEqual([])
  const waiting = () => readdirSync(vms).filter((entry) => entry.startsWith('.pool-'))
  const before = waiting().map((entry) => readFileSync(join(vms, entry, 'hypervisor.pid'), 'utf8').trim())
  const begun = performance.now()
  const one = await pool.claim({ name: 'one' })
  console.info(`claimed after ${Math.round(performance.now() - begun)} ms`)
  const two = await pool.claim({ name: 'two' })
  for (const name of ['one', 'two'])
    expect(before).toContain(readFileSync(join(vms, name, 'hypervisor.pid'), 'utf8').trim())
  const own = 'cat /etc/machine-id /etc/backlot/computer.key; head -c 16 /dev/urandom | base64'
  const [ours, theirs] = await Promise.all([one.shell.run(own), two.shell.run(own)])
  const shared = ours.stdout.split('\n').filter((line) => line !== '' && theirs.stdout.includes(line))
  expect([ours.stdout.trim().split('\n').length, shared]).toEqual([3, []])
  expect((await two.shell.run('hostname; cat /proc/sys/kernel/random/boot_id')).stdout).toBe(
    `two\n${(await one.shell.run('cat /var/boots')).stdout}`,
  )
  await isReady()
  await pool.delete()
  await until('the pool to be empty', () => waiting().length === 0)
  expect([...(await WarmPool.list({ runtime }))]).toEqual([])
  for (const each of [one, two]) await each.destroy()
}

test('sandboxes of a service are claimed from a pool', async () => {
  sandboxHome()
  await using host = await startVmHost()
  await giveImage(host)
  await claimsFrom(runtimes.vmhost({ url: host.url }), join(host.home, 'data/vms'))
})

test('sandboxes of QEMU are claimed from a pool', async () => {
  const { folder, atEnd } = sandboxHome()
  const home = join(folder, 'state/qemu')
  // The host would end by itself once nothing has run for a while; what a failure leaves is ended here too.
  atEnd(async () => {
    const hosts = Bun.spawnSync(['pgrep', '-f', `serve --listen unix:${folder}/`]).stdout.toString()
    for (const pid of hosts.split('\n').filter(Boolean).map(Number)) {
      process.kill(pid, 'SIGTERM')
      await until('the host to end', () => !isAlive(pid))
    }
    for (const file of new Bun.Glob('**/hypervisor.pid').scanSync({ cwd: folder, dot: true })) {
      const pid = Number(readFileSync(join(folder, file), 'utf8'))
      if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    }
  })
  giveAcceleration(folder)
  await giveImage({ home: folder })
  await claimsFrom(runtimes.qemu(), join(home, 'data/vms'))
})
