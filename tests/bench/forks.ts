/**
 * `./dev bench forks [--quick]`: linux-minimal forked while it runs, made of a template, taken from a pool, suspended and resumed, on the packed
 * build, beside a cold boot of the same disk in the same run.
 */
import { readFileSync } from 'node:fs'
import { httpClient } from '@backlot/contract/client'
import { vmHost } from '@backlot/contract/vmhost'
import { accelerationHere } from '../support/acceleration.ts'
import { startVmHost } from '../support/vmhost.ts'
import { giveImage } from '../support/vms.ts'
import { machine, milliseconds, type Row, spreadOf, summary, table } from './driver/measure.ts'
import { answered } from './vmhost/boot.ts'

const isQuick = process.argv.includes('--quick')
const rounds = isQuick ? 2 : 5
const sizes = isQuick ? [1, 4] : [1, 4, 8]

await using host = await startVmHost()
await giveImage(host)
const client = httpClient(vmHost, { baseUrl: `${host.url}/svc`, fetch })
const settings = {
  os: 'linux',
  image: 'linux-minimal',
  cpu: 1,
  memory: '256MB',
  diskSize: '1GB',
  display: '800x600',
} as const

/** Proportional share of a process in the machine's memory, in megabytes (proc(5), smaps_rollup). */
const proportionalMB = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024

/** The VM once its hypervisor runs. */
const started = async (name: string) => {
  for (;;) {
    const vm = await client.getVm({ name }).catch(() => undefined)
    if (vm?.ipAddress && vm.pid !== null) return { url: `http://${vm.ipAddress}:8000`, pid: vm.pid }
    await Bun.sleep(20)
  }
}

const firstAnswer = async (name: string): Promise<void> => answered((await started(name)).url)

const removed = async (name: string): Promise<void> => {
  await client.stopVm({ name, graceSeconds: 0 })
  await client.deleteVm({ name })
}

const samples = new Map<string, number[]>()
const keep = (what: string, value: number): void => void samples.set(what, [...(samples.get(what) ?? []), value])

const boot = async (): Promise<void> => {
  await client.createVm({ name: 'cold', ...settings })
  const took = await milliseconds(async () => {
    await client.runVm({ name: 'cold', noDisplay: true })
    await firstAnswer('cold')
  })
  keep('cold', took)
  await removed('cold')
}

const fromTemplate = async (): Promise<void> => {
  const took = await milliseconds(async () => {
    await client.createVm({ name: 'forked', ...settings, template: true })
    await client.runVm({ name: 'forked', noDisplay: true })
    await firstAnswer('forked')
  })
  keep('template', took)
  await removed('forked')
}

const fork = async (count: number): Promise<void> => {
  const names = Array.from({ length: count }, (_, index) => `fork-${index}`)
  const began = performance.now()
  const whole = client.forkVm({ name: 'parent', names }).then(() => performance.now() - began)
  const answersAt = async (name: string) => {
    await firstAnswer(name)
    return performance.now() - began
  }
  const answers = await Promise.all(names.map(answersAt))
  keep(`first of ${count}`, Math.min(...answers))
  keep(`last of ${count}`, Math.max(...answers))
  keep(`identities of ${count}`, await whole)
  const vms = await Promise.all(names.map(started))
  keep(`memory of ${count}`, vms.reduce((sum, { pid }) => sum + proportionalMB(pid), 0) / count)
  for (const name of names) await removed(name)
}

const suspend = async (): Promise<void> => {
  keep('suspend', await milliseconds(() => client.suspendVm({ name: 'parent' })))
  keep(
    'resume',
    await milliseconds(async () => {
      await client.resumeVm({ name: 'parent' })
      await firstAnswer('parent')
    }),
  )
}

/** A fork that ran before anybody asked for it; another is made behind it, as for every user. */
const pooled = async (): Promise<void> => {
  await client.suspendVm({ name: 'parent' })
  await client.poolVm({ name: 'parent', size: 1 })
  while ((await client.poolVm({ name: 'parent' })).ready === 0) await Bun.sleep(20)
  const took = await milliseconds(async () => {
    await client.forkVm({ name: 'parent', names: ['pooled'] })
    await firstAnswer('pooled')
  })
  keep('pooled', took)
  await client.poolVm({ name: 'parent', size: 0 })
  await removed('pooled')
  await client.resumeVm({ name: 'parent' })
  await firstAnswer('parent')
}

await client.createVm({ name: 'parent', ...settings })
await client.runVm({ name: 'parent', noDisplay: true })
await firstAnswer('parent')
const { operationId } = await client.createVm({ name: 'first', ...settings, template: true })
while ((await client.getOperation({ id: operationId })).state === 'running') await Bun.sleep(50)
await client.deleteVm({ name: 'first' })
for (let round = 0; round < rounds; round++) {
  await boot()
  await fromTemplate()
  await suspend()
  await pooled()
  for (const count of sizes) await fork(count)
}
await removed('parent')

const spread = (name: string) => spreadOf(samples.get(name) ?? [])
const floor = { name: 'cold boot', spread: spread('cold') }
const rows: Row[] = [
  { what: 'create of a template, run, to the first answer', unit: 'ms', measured: spread('template'), floor },
  { what: 'fork that a pool has ready, to its first answer', unit: 'ms', measured: spread('pooled'), floor },
  ...sizes.flatMap((count): Row[] => [
    {
      what: `fork into ${count}, to the first answer of one`,
      unit: 'ms',
      measured: spread(`first of ${count}`),
      floor,
      ...(count === 1 && { aim: { of: 'median', atMost: 300 } as const }),
    },
    { what: `fork into ${count}, to the first answer of all`, unit: 'ms', measured: spread(`last of ${count}`), floor },
    { what: `fork into ${count}, until each has an identity`, unit: 'ms', measured: spread(`identities of ${count}`) },
    {
      what: `memory of each of ${count}`,
      unit: 'MB',
      measured: spread(`memory of ${count}`),
      aim: { of: 'median', atMost: 40 },
    },
  ]),
  { what: 'suspend', unit: 'ms', measured: spread('suspend') },
  { what: 'resume, to the first answer', unit: 'ms', measured: spread('resume') },
]
for (const row of rows) console.error(summary(row))
const { refusal } = await accelerationHere()
const withoutKvm = refusal === null ? '' : ` No row is with KVM: ${refusal}`
console.log(`${table(rows)}\n\n${machine()}.${withoutKvm}`)
