/** Forks of a VM that runs, VMs of a template and of a pool, beside a cold boot of the same disk in the same run. */
import { readFileSync } from 'node:fs'
import { type Client, httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { startVmHost, type VmHost } from '../../support/vmhost.ts'
import { giveImage } from '../../support/vms.ts'
import { milliseconds, type Row, spreadOf } from '../driver/measure.ts'
import { answered } from '../vmhost/boot.ts'
import { giveDesktop } from './desktop-image.ts'

const isQuick = process.argv.includes('--quick')

/** What is forked. */
interface Subject {
  readonly image: string
  readonly settings: {
    readonly cpu: number
    readonly memory: string
    readonly diskSize: string
    readonly display: string
  }
  readonly rounds: number
  readonly sizes: readonly number[]
  /** Milliseconds until a fork into one answers first, and megabytes of each fork. */
  readonly aims: { readonly firstMs: number; readonly eachMB: number }
  give(host: VmHost): Promise<void>
}

/** Proportional share of a process in the machine's memory, in megabytes (proc(5), smaps_rollup). */
const proportionalMB = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024

class Forks {
  readonly samples = new Map<string, number[]>()

  constructor(
    readonly subject: Subject,
    readonly client: Client<typeof vmHost>,
  ) {}

  async all(): Promise<void> {
    const { client, subject } = this
    await this.create('parent')
    await client.runVm({ name: 'parent', noDisplay: true })
    await this.firstAnswer('parent')
    const { operationId = '' } = await this.create('first', true)
    while ((await client.getOperation({ id: operationId })).state === 'running') await Bun.sleep(50)
    await client.deleteVm({ name: 'first' })
    for (let round = 0; round < (isQuick ? Math.min(2, subject.rounds) : subject.rounds); round++) {
      await this.made('cold', false)
      await this.made('template', true)
      await this.suspended()
      await this.pooled()
      for (const count of subject.sizes) await this.forked(count)
    }
    await this.removed('parent')
  }

  create(name: string, template = false) {
    const { image, settings } = this.subject
    return this.client.createVm({ name, os: 'linux', image, ...settings, ...(template && { template }) })
  }

  keep(what: string, value: number): void {
    this.samples.set(what, [...(this.samples.get(what) ?? []), value])
  }

  /** The VM once its hypervisor runs. */
  async started(name: string) {
    for (;;) {
      const vm = await this.client.getVm({ name }).catch(() => undefined)
      if (vm?.ipAddress && vm.pid !== null) return { url: `http://${vm.ipAddress}:8000`, pid: vm.pid }
      await Bun.sleep(20)
    }
  }

  async firstAnswer(name: string): Promise<void> {
    await answered((await this.started(name)).url)
  }

  async removed(name: string): Promise<void> {
    await this.client.stopVm({ name, graceSeconds: 0 })
    await this.client.deleteVm({ name })
  }

  async made(what: string, template: boolean): Promise<void> {
    const took = await milliseconds(async () => {
      await this.create('made', template)
      await this.client.runVm({ name: 'made', noDisplay: true })
      await this.firstAnswer('made')
    })
    this.keep(what, took)
    await this.removed('made')
  }

  async suspended(): Promise<void> {
    this.keep('suspend', await milliseconds(() => this.client.suspendVm({ name: 'parent' })))
    const resume = async () => {
      await this.client.resumeVm({ name: 'parent' })
      await this.firstAnswer('parent')
    }
    this.keep('resume', await milliseconds(resume))
  }

  /** A fork that ran before anybody asked for it; another is made behind it, as for every user. */
  async pooled(): Promise<void> {
    const { client } = this
    await client.suspendVm({ name: 'parent' })
    await client.poolVm({ name: 'parent', size: 1 })
    while ((await client.poolVm({ name: 'parent' })).ready === 0) await Bun.sleep(20)
    const took = await milliseconds(async () => {
      await client.forkVm({ name: 'parent', names: ['pooled'] })
      await this.firstAnswer('pooled')
    })
    this.keep('pooled', took)
    await client.poolVm({ name: 'parent', size: 0 })
    await this.removed('pooled')
    await client.resumeVm({ name: 'parent' })
    await this.firstAnswer('parent')
  }

  async forked(count: number): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `fork-${index}`)
    const began = performance.now()
    const whole = this.client.forkVm({ name: 'parent', names }).then(() => performance.now() - began)
    const answersAt = async (name: string) => {
      await this.firstAnswer(name)
      return performance.now() - began
    }
    const answers = await Promise.all(names.map(answersAt))
    this.keep(`first of ${count}`, Math.min(...answers))
    this.keep(`last of ${count}`, Math.max(...answers))
    this.keep(`identities of ${count}`, await whole)
    const vms = await Promise.all(names.map((name) => this.started(name)))
    this.keep(`memory of ${count}`, vms.reduce((sum, { pid }) => sum + proportionalMB(pid), 0) / count)
    for (const name of names) await this.removed(name)
  }

  rows(): Row[] {
    const { image, sizes, aims } = this.subject
    const spread = (name: string) => spreadOf(this.samples.get(name) ?? [])
    const floor = { name: 'cold boot', spread: spread('cold') }
    const timed = (what: string, of: string, more: Partial<Row> = { floor }): Row => ({
      ...{ what: `${image}: ${what}`, unit: 'ms', measured: spread(of) },
      ...more,
    })
    const ofSize = (count: number): Row[] => [
      timed(`fork into ${count}, to the first answer of one`, `first of ${count}`, {
        floor,
        ...(count === 1 && { aim: { of: 'median', atMost: aims.firstMs } as const }),
      }),
      timed(`fork into ${count}, to the first answer of all`, `last of ${count}`),
      timed(`fork into ${count}, until each has an identity`, `identities of ${count}`, {}),
      {
        ...{ what: `${image}: memory of each of ${count}`, unit: 'MB', measured: spread(`memory of ${count}`) },
        aim: { of: 'median', atMost: aims.eachMB },
      },
    ]
    return [
      timed('create of a template, run, to the first answer', 'template'),
      timed('fork that a pool has ready, to its first answer', 'pooled'),
      ...sizes.flatMap(ofSize),
      timed('suspend', 'suspend', {}),
      timed('resume, to the first answer', 'resume', {}),
    ]
  }
}

const rowsOf = async (subject: Subject): Promise<Row[]> => {
  await using host = await startVmHost()
  await subject.give(host)
  const forks = new Forks(subject, httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch }))
  await forks.all()
  return forks.rows()
}

export const forkRows = (): Promise<Row[]> =>
  rowsOf({
    image: 'linux-minimal',
    settings: { cpu: 1, memory: '256MB', diskSize: '1GB', display: '800x600' },
    rounds: 5,
    sizes: isQuick ? [1, 4] : [1, 4, 8],
    aims: { firstMs: 300, eachMB: 40 },
    give: giveImage,
  })

export const desktopForkRows = (): Promise<Row[]> =>
  rowsOf({
    image: 'linux-desktop',
    settings: { cpu: 2, memory: '2GB', diskSize: '6GB', display: '1024x768' },
    rounds: isQuick ? 1 : 3,
    sizes: isQuick ? [1, 4] : [1, 4, 8],
    aims: { firstMs: 700, eachMB: 100 },
    give: giveDesktop,
  })
