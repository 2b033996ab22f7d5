/** Services that share what they fetch, callers that make VMs of one address, and what became of those. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Operation } from '@backlot/contract/vmhost/operation'
import { qemu, Scratch } from './qemu.ts'
import { until } from './until.ts'
import { startVmHost, type VmHost } from './vmhost.ts'
import { type Answer, call, create } from './vms.ts'

/** Milliseconds after which somebody counts as waiting for ever: many times as long as a server may keep silent. */
const patienceMs = 300_000

/** The failures that are true where a server does what it should not. */
const honest = ['download_failed', 'disk_unsupported']

/** Services that come and go, with one folder for what they fetch. */
export class FetchingServices implements AsyncDisposable {
  readonly scratch = new Scratch()
  hosts: VmHost[] = []
  /** By the service that was killed: settles when another has taken its place. */
  readonly #replaced = new Map<VmHost, Promise<void>>()
  #count = 0

  /** Starts so many; the last keeps nothing of what it has fetched. */
  async start(count: number): Promise<void> {
    this.hosts = await Promise.all(
      Array.from({ length: count }, (_, at) => startVmHost(['--port', '0'], this.scratch.at(`home-${at}`))),
    )
    for (const [at, host] of this.hosts.entries()) {
      const settings = { cacheDirectory: this.scratch.at('cache'), cachingEnabled: at < count - 1 }
      const [status] = await call(host, 'POST', '/svc/config', settings)
      if (status !== 200) throw new Error(`the service does not take its settings: ${status}`)
    }
  }

  /** Kills a service in the middle of whatever it does, and starts it again. */
  async kill(at: number): Promise<void> {
    const host = this.hosts[at] as VmHost
    const replace = async () => {
      await host.kill()
      this.hosts[at] = await startVmHost(['--port', '0'], host.home)
    }
    const replaced = replace()
    this.#replaced.set(host, replaced)
    await replaced
  }

  /** Has a service make a VM of the address, and gives what became of it. */
  async fetch(at: number, url: string): Promise<Fetched> {
    const host = this.hosts[at] as VmHost
    const name = `vm-${++this.#count}`
    try {
      const { operationId } = await create(host, name, { image: url, diskSize: '16MB' })
      const { state, cause } = await until(
        `the end of "${name}"`,
        async () => {
          const operation = (await call(host, 'GET', `/svc/operations/${operationId}`))[1] as unknown as Operation
          return operation.state !== 'running' && operation
        },
        patienceMs,
      )
      return { at, name, code: state === 'done' ? undefined : (cause?.code ?? state) }
    } catch (error) {
      if (!this.#replaced.has(host)) throw error
      await this.#replaced.get(host)
      return { at, name, code: 'killed' }
    }
  }

  /** What is wrong with what became of a VM whose disk may have any of these contents; nothing where it is right. */
  async wrongWith({ at, name, code }: Fetched, contents: readonly Buffer[]): Promise<string | undefined> {
    const [status, vm] = await this.#read(at, `/svc/vms/${name}`)
    const host = this.hosts[at] as VmHost
    const isThere = status === 200 && vm.status === 'stopped'
    if (code === undefined && !isThere) return `"${name}" was made and is ${status} ${vm.status}`
    if (code !== undefined && code !== 'killed') {
      if (isThere) return `"${name}" failed with ${code} and is there`
      return honest.includes(code) ? undefined : `"${name}" failed with ${code}`
    }
    if (!isThere) return undefined
    const raw = this.scratch.at(`${name}.raw`)
    qemu(['qemu-img', 'convert', '-O', 'raw', join(host.home, 'data/vms', name, 'disk.qcow2'), raw])
    const disk = readFileSync(raw)
    rmSync(raw)
    const isOf = (content: Buffer) =>
      disk.subarray(0, content.length).equals(content) && disk.subarray(content.length).every((byte) => byte === 0)
    if (contents.some(isOf)) return undefined
    writeFileSync(this.scratch.at(`wrong-${name}.raw`), disk)
    return `the disk of "${name}" is none of ${contents.length} contents`
  }

  /** Asks a service for something; where it is killed meanwhile, the one that takes its place. */
  async #read(at: number, path: string): Promise<Answer> {
    const host = this.hosts[at] as VmHost
    try {
      return await call(host, 'GET', path)
    } catch (error) {
      const replaced = this.#replaced.get(host)
      if (replaced === undefined) throw error
      await replaced
      return this.#read(at, path)
    }
  }

  /** Removes the VMs. */
  async clear(): Promise<void> {
    for (const host of this.hosts) {
      const [, vms] = await call(host, 'GET', '/svc/vms')
      for (const { name } of vms as unknown as { name: string }[]) await call(host, 'DELETE', `/svc/vms/${name}`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.hosts.map((host) => host[Symbol.asyncDispose]()))
    this.scratch[Symbol.dispose]()
  }
}

/** What a caller was told: no code where the VM was made, `killed` where the service died before it could say. */
export interface Fetched {
  readonly at: number
  readonly name: string
  readonly code: string | undefined
}
