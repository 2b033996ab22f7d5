import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFileSync, linkSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { templatesKept } from '@backlot/contract/limits'
import type { Template } from '@backlot/contract/vmhost/template'
import { runBacklot } from '../support/backlot.ts'
import { until } from '../support/until.ts'
import { startVmHost, type VmHost } from '../support/vmhost.ts'
import {
  booted,
  call,
  checkDisk,
  ended,
  get,
  giveImage,
  image,
  isAlive,
  names,
  run,
  sharedMemory,
  small,
} from '../support/vms.ts'

let first: VmHost
let host: VmHost

beforeAll(async () => {
  // The first service has the home, and goes with it.
  first = await startVmHost()
  host = first
  await giveImage(host)
})

afterAll(async () => {
  if (host !== first) await host[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

const templates = () => readdirSync(join(host.home, 'data/vms')).filter((name) => name.startsWith('.template-'))

const userData =
  '#!/bin/sh\nmkdir -p /run/t && mount -t tmpfs t /run/t && cat /proc/sys/kernel/random/boot_id >/run/t/word\n'

/** Makes a VM of a template and gives what it was told at first. */
const create = async (name: string, more: Readonly<Record<string, unknown>> = {}) => {
  const [status, answer] = await call(host, 'POST', '/svc/vms', {
    ...{ ...small, name, image, userData, template: true },
    ...more,
  })
  expect([status, answer]).toEqual([200, expect.objectContaining({ name })])
  return answer
}

/** The process of a template that boots, once there is one. */
const hypervisor = async (): Promise<number> => {
  const pidFile = new Bun.Glob('data/vms/.template-*/hypervisor.pid')
  const file = await until('a hypervisor', () => [...pidFile.scanSync({ cwd: host.home, dot: true })][0])
  return until('its pid', async () => Number(await Bun.file(join(host.home, file)).text()))
}

const inside = async (name: string, command: string): Promise<string> => {
  const [status, body] = await call(host, 'POST', `/svc/vms/${name}/exec`, { command })
  expect([status, body]).toEqual([200, expect.objectContaining({ exitCode: 0 })])
  return String(body.stdout).trim()
}

test('a service that is killed while it makes a template leaves nothing of it', async () => {
  const { operationId, status } = await create('lost')
  expect(status).toBe('provisioning')
  const pid = await hypervisor()
  expect(operationId).toBeString()
  await host.kill()
  expect(isAlive(pid)).toBe(true)
  host = await startVmHost(['--port', '0'], first.home)
  await until('the hypervisor to be gone', () => !isAlive(pid))
  expect([templates(), await names(host)]).toEqual([[], []])
})

test('VMs of one kind are forks of one first boot, each a machine of its own', async () => {
  const { operationId } = await create('one')
  // The template that boots is no VM that anybody is shown.
  await until('its first boot to be over', async () => {
    expect(await names(host)).toEqual(['one'])
    return (await call(host, 'GET', `/svc/operations/${operationId}`))[1].state !== 'running'
  })
  expect(await ended(host, String(operationId))).toMatchObject({ state: 'done', cause: null })
  expect(await get(host, 'one')).toMatchObject({ status: 'suspended', identity: 'shared' })
  // There is a template now: nothing boots.
  expect(await create('two')).toMatchObject({ status: 'suspended' })
  expect(templates()).toHaveLength(1)
  expect((await names(host)).sort()).toEqual(['one', 'two'])
  const vms = [await run(host, 'one'), await run(host, 'two')]
  expect(vms.map(({ identity }) => identity)).toEqual(['own', 'own'])
  const both = (command: string) => Promise.all(['one', 'two'].map((name) => inside(name, command)))
  const [boot, ...others] = await both('cat /proc/sys/kernel/random/boot_id /run/t/word')
  expect(others).toEqual([String(boot)])
  expect(await both('cat /sys/class/net/eth0/address')).toEqual(vms.map(({ macAddress }) => macAddress))
  expect(await both('hostname')).toEqual(['one', 'two'])
  expect(new Set(await both('cat /etc/machine-id')).size).toBe(2)
  for (const vm of vms) expect(await booted(vm)).toMatchObject({ status: 'ok' })
  // One copy of what neither has written to, by what the kernel says of the pages.
  const [one, two] = vms.map(sharedMemory)
  expect([one?.inode, Number(one?.shared) > 8 * 1024]).toEqual([two?.inode, true])
})

/** Other templates, each with the files of one that there is, used so many days ago. */
const moreTemplates = (template: string, ...days: readonly number[]): string[] =>
  days.map((day) => {
    const name = `.template-${day.toString(16).padStart(16, '0')}`
    const [from, to] = [template, name].map((each) => join(host.home, 'data/vms', each)) as [string, string]
    mkdirSync(to)
    for (const file of ['vm.json', 'disk.qcow2', 'memory.state']) linkSync(join(from, file), join(to, file))
    copyFileSync(join(from, 'saved.json'), join(to, 'saved.json'))
    const used = Date.now() / 1000 - day * 86_400
    utimesSync(join(to, 'saved.json'), used, used)
    return name
  })

const listed = async () => (await call(host, 'GET', '/svc/templates'))[1] as unknown as Template[]

test('where there are too many templates those go that were not used for longest, and the VMs of it stay', async () => {
  const [template = ''] = templates()
  const [before] = await listed()
  const old = moreTemplates(template, ...Array.from({ length: templatesKept.most + 1 }, (_, index) => index + 1))
  expect(templates()).toHaveLength(templatesKept.most + 2)
  expect(await create('four')).toMatchObject({ status: 'suspended' })
  // The one that was used now is the youngest, however early it was made.
  expect(templates().sort()).toEqual([template, ...old.slice(0, -2)].sort())
  const now = (await listed()).find(({ id }) => template.endsWith(id))
  expect([now?.createdAt, String(now?.usedAt) > String(before?.usedAt)]).toEqual([before?.createdAt, true])
  for (const name of old) rmSync(join(host.home, 'data/vms', name), { recursive: true, force: true })
  for (const name of ['one', 'two']) expect(await inside(name, 'hostname')).toBe(name)
  expect(checkDisk(join(host.home, 'data/vms/four'))).toBe(0)
  expect((await call(host, 'DELETE', '/svc/vms/four'))[0]).toBe(200)
})

test('a template outlives its forks, and they it', async () => {
  for (const name of ['one', 'two'])
    expect((await call(host, 'POST', `/svc/vms/${name}/stop`, { graceSeconds: 0 }))[0]).toBe(200)
  expect((await call(host, 'DELETE', '/svc/vms/one'))[0]).toBe(200)
  expect(checkDisk(join(host.home, 'data/vms/two'))).toBe(0)
  const sizes = ['--cpu', '1', '--memory', small.memory, '--disk-size', small.diskSize, '--display', small.display]
  const made = await runBacklot(['vm', 'create', 'three', '--template', ...sizes, '--user-data', userData], {
    ...{ BACKLOT_HOST_URL: host.url, BACKLOT_HOME: host.home },
  })
  expect(JSON.parse(made.stdout)).toMatchObject({ name: 'three', status: 'suspended' })
  expect(templates()).toHaveLength(1)
  await run(host, 'three')
  expect(await inside('three', 'hostname; cat /run/t/word')).toStartWith('three\n')
  const [template = ''] = templates()
  expect(checkDisk(join(host.home, 'data/vms', template))).toBe(0)
})

test('a kind whose first boot fails has no template, and what none can be made of is refused', async () => {
  const { operationId, status } = await create('other', { userData: '#!/bin/sh\npoweroff -f\n' })
  expect(status).toBe('provisioning')
  expect((await ended(host, String(operationId))).cause?.code).toBe('template_not_made')
  expect([templates().length, (await names(host)).includes('other')]).toEqual([1, false])
  const [{ id, image: made, cpuCount } = {}] = (await call(host, 'GET', '/svc/templates'))[1] as unknown as Template[]
  expect([made, cpuCount]).toEqual([image, 1])
  expect((await call(host, 'DELETE', `/svc/templates/${id}`))[0]).toBe(200)
  expect((await call(host, 'DELETE', `/svc/templates/${id}`))[1].code).toBe('template_not_found')
  expect(templates()).toEqual([])
  expect(await inside('three', 'cat /etc/hostname')).toBe('three')
  expect((await call(host, 'POST', '/svc/vms/three/stop', { graceSeconds: 0 }))[0]).toBe(200)
  for (const name of ['two', 'three']) expect(checkDisk(join(host.home, 'data/vms', name))).toBe(0)
  const [refused, body] = await call(host, 'POST', '/svc/vms', { ...small, name: 'empty', template: true })
  expect([refused, body.code]).toEqual([400, 'invalid_argument'])
})
