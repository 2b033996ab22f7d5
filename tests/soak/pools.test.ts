/**
 * The service and hypervisors are killed at random moments while a warm pool is filled, taken from and emptied: a fork that was
 * reported runs on under its name, nothing is left of the others, and two services on one home never have two pools.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Vm } from '@backlot/contract/vmhost/vm'
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
