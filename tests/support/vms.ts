/** VMs of a test's own host, asked for over HTTP as a client does. */

import { expect } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Operation } from '@backlot/contract/vmhost/operation'
import type { Vm } from '@backlot/contract/vmhost/vm'
import { linuxMinimal } from './image.ts'
import { until } from './until.ts'
import type { VmHost } from './vmhost.ts'

/** A JSON answer: its status and its body. */
export type Answer = readonly [number, Record<string, unknown>]

/** The image that tests boot. */
export const image = 'linux-minimal:latest'

/** Gives a host the image that tests boot, under another name for the same folder. */
export const giveImage = async ({ home }: Pick<VmHost, 'home'>): Promise<void> => {
  const { folder } = await linuxMinimal()
  const images = join(home, 'cache/images')
  mkdirSync(images, { recursive: true })
  symlinkSync(folder, join(images, basename(folder)))
}

/** Calls the service; an object becomes a JSON body, a string is sent as it is. */
export const call = async (
  host: Pick<VmHost, 'url'>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> => {
  const answer = await fetch(host.url + path, {
    method,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return [answer.status, (await answer.json()) as Record<string, unknown>]
}

/** What every VM of a test is made of unless it says otherwise. */
export const small = { os: 'linux', cpu: 1, memory: '256MB', diskSize: '1GB', display: '800x600' } as const

/** Makes a VM and expects it to succeed. */
export const create = async (host: VmHost, name: string, more: Readonly<Record<string, unknown>> = {}) => {
  const answer = await call(host, 'POST', '/svc/vms', { ...small, name, ...more })
  expect(answer).toEqual([200, expect.objectContaining({ name })])
  return answer[1]
}

/** The record of a VM. */
export const get = async (host: VmHost, name: string, query = ''): Promise<Vm> => {
  const [status, body] = await call(host, 'GET', `/svc/vms/${name}${query}`)
  expect([status, body]).toEqual([200, expect.objectContaining({ name })])
  return body as unknown as Vm
}

/** The names of all VMs. */
export const names = async (host: VmHost, query = ''): Promise<string[]> => {
  const [, vms] = await call(host, 'GET', `/svc/vms${query}`)
  return (vms as unknown as Vm[]).map(({ name }) => name)
}

/** Starts a VM and waits until its processor runs; `query` says where it is. */
export const run = async (
  host: VmHost,
  name: string,
  options: unknown = { noDisplay: true },
  query = '',
): Promise<Vm> => {
  const [status, { operationId }] = await call(host, 'POST', `/svc/vms/${name}/run`, options)
  expect(status).toBe(202)
  const operation = await ended(host, String(operationId))
  expect([operation.state, operation.cause]).toEqual(['done', null])
  return get(host, name, query)
}

/** Waits until an operation has ended, and gives it. */
export const ended = (host: VmHost, id: string): Promise<Operation> =>
  until(`the end of the operation ${id}`, async () => {
    const operation = (await call(host, 'GET', `/svc/operations/${id}`))[1] as unknown as Operation
    return operation.state !== 'running' && operation
  })

/** Waits until the computer server of a guest answers, which takes as long as it boots. */
export const booted = (vm: Vm): Promise<unknown> =>
  until(
    `an answer of "${vm.name}" at ${vm.ipAddress}`,
    async () => {
      const answer = await fetch(`http://${vm.ipAddress}:8000/status`, { signal: AbortSignal.timeout(1_000) }).catch(
        () => undefined,
      )
      return answer?.json()
    },
    120_000,
  )

/** Whether a process of that pid lives. */
export const isAlive = (pid: number | null): boolean => pid !== null && existsSync(`/proc/${pid}/fd/0`)

/** What `qemu-img check` says of the disk in a VM's folder: 0 for a clean one. */
export const checkDisk = (folder: string): number =>
  Bun.spawnSync(['qemu-img', 'check', '-q', join(folder, 'disk.qcow2')]).exitCode

/** The file in memory that a fork's memory is mapped from, and kibibytes of it, by what the kernel says (proc(5), smaps). */
export const sharedMemory = ({ pid }: Vm) => {
  const areas = readFileSync(`/proc/${pid}/smaps`, 'utf8').split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m)
  const area = areas.find((each) => each.includes('/memfd:backlot-memory'))
  const sum = (...names: string[]) =>
    names.reduce((total, name) => total + Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(area ?? '')?.[1]), 0)
  const [, mode, , , inode] = area?.split(/\s+/) ?? []
  return { mode, inode, shared: sum('Shared_Clean', 'Shared_Dirty'), size: sum('Size') }
}
