/**
 * The service and hypervisors are killed at random moments while VMs are suspended, resumed, kept, restored, forked and deleted: what was
 * reported saved goes on, every disk is whole, and nothing is left over.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { limitMs, rounds } from '../support/soak.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import { type Answer, call, checkDisk, create, get, giveImage, image, isAlive, run } from '../support/vms.ts'

setDefaultTimeout(limitMs(900_000))

const kills = rounds(50)

const choose = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)] as T

const name = (kind: string): string => `${kind}${crypto.randomUUID().slice(0, 8)}`

/** Work on the VM or on a fork of it that was made for that, and whether the VM is suspended before. */
const work = {
  suspend: { isSuspended: false, path: 'suspend', body: () => ({}) },
  resume: { isSuspended: true, path: 'resume', body: () => ({}) },
  snapshot: { isSuspended: false, path: 'snapshots', body: () => ({ snapshot: name('s') }) },
  restore: { isSuspended: true, path: 'snapshots/first/restore', body: () => ({}) },
  fork: { isSuspended: false, path: 'fork', body: () => ({ names: [name('f')] }) },
  delete: { isSuspended: true, path: '', body: () => undefined },
} as const
type Verb = keyof typeof work

const ask = (host: VmHost, verb: Verb): Promise<Answer> =>
  verb === 'delete'
    ? call(host, 'DELETE', '/svc/vms/gone')
    : call(host, 'POST', `/svc/vms/one/${work[verb].path}`, work[verb].body())

/** What a command in the guest prints, or why it prints nothing. */
const inside = async (host: VmHost, command: string): Promise<string> => {
  const [, body] = await call(host, 'POST', '/svc/vms/one/exec', { command })
  return String(body.stdout ?? JSON.stringify(body)).trim()
}

const killProcess = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}

test('nothing that was reported saved is lost', async () => {
  // The first service has the home, and goes with it.
  await using owner = await startVmHost()
  let host: VmHost = owner
  try {
    await giveImage(host)
    await create(host, 'one', { image })
    await run(host, 'one')
    await inside(host, 'mkdir -p /run/t && mount -t tmpfs t /run/t && echo kept >/run/t/word; sync')
    const boot = await inside(host, 'cat /proc/sys/kernel/random/boot_id')
    expect((await call(host, 'POST', '/svc/vms/one/snapshots', { snapshot: 'first' }))[0]).toBe(200)
    const folder = (name: string) => join(host.home, 'data/vms', name)
    for (let round = 0; round < kills; round++) {
      const verb = choose(Object.keys(work) as Verb[])
      if (work[verb].isSuspended) expect((await ask(host, 'suspend'))[0]).toBe(200)
      if (verb === 'delete') {
        expect((await call(host, 'POST', '/svc/vms/one/fork', { names: ['gone'] }))[0]).toBe(200)
        expect((await call(host, 'POST', '/svc/vms/gone/stop', { graceSeconds: 0 }))[0]).toBe(200)
      }
      const before = await get(host, 'one')
      const asked = ask(host, verb).catch(() => undefined)
      // A deletion is over soon.
      await Bun.sleep(Math.random() * (verb === 'delete' ? 30 : 1_500))
      const isService = Math.random() < 0.6
      const pid = (await get(host, 'one').catch(() => before)).pid
      if (isService) await host.kill()
      else if (pid !== null) {
        killProcess(pid)
        await until('the hypervisor to be gone', () => !isAlive(pid))
      }
      const answer = await asked
      if (isService) host = await startVmHost(['--port', '0'], host.home)
      const vm = await until('the VM to be found', async () => {
        const vm = await get(host, 'one')
        // The end of a process is seen a moment later.
        if (vm.pid !== null && !isAlive(vm.pid)) return false
        return ['running', 'suspended', 'stopped'].includes(vm.status) && vm
      })
      const seen = { round, verb, isService, answer: answer?.[0], status: vm.status }
      if (answer?.[0] === 200 && verb === 'suspend') expect(seen).toMatchObject({ status: 'suspended' })
      // A hypervisor outlives its service, and so does a memory; a restore gives up both before it has the other.
      if (isService && verb !== 'restore') expect(seen).not.toMatchObject({ status: 'stopped' })
      if (vm.status === 'suspended') expect((await call(host, 'POST', '/svc/vms/one/resume'))[0]).toBe(200)
      if (vm.status === 'stopped') {
        expect((await call(host, 'POST', '/svc/vms/one/snapshots/first/restore'))[0]).toBe(200)
        expect((await call(host, 'POST', '/svc/vms/one/resume'))[0]).toBe(200)
      }
      const words = await inside(host, 'cat /proc/sys/kernel/random/boot_id /run/t/word')
      expect({ ...seen, words }).toEqual({ ...seen, words: `${boot}\nkept` })
      const all = (await call(host, 'GET', '/svc/vms'))[1] as unknown as Vm[]
      if (verb === 'delete' && answer?.[0] === 200) expect(all.map(({ name }) => name)).toEqual(['one'])
      for (const { name, status } of all.filter(({ name }) => name !== 'one')) {
        expect(['running', 'suspended', 'stopped']).toContain(status)
        if (status === 'running') await call(host, 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 0 })
        expect(checkDisk(folder(name))).toBe(0)
        expect((await call(host, 'DELETE', `/svc/vms/${name}`))[0]).toBe(200)
      }
    }
    expect((await call(host, 'POST', '/svc/vms/one/stop', { graceSeconds: 0 }))[0]).toBe(200)
    expect(checkDisk(folder('one'))).toBe(0)
    expect((await call(host, 'DELETE', '/svc/vms/one'))[0]).toBe(200)
    expect(readdirSync(join(host.home, 'data/vms')).filter((name) => name !== '.bases.lock')).toEqual([])
    expect(existsSync(folder('.bases'))).toBe(false)
  } finally {
    if (host !== owner) await host[Symbol.asyncDispose]()
  }
})
