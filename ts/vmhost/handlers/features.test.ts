import { expect, test } from 'bun:test'
import { Failure } from '@backlot/contract/failure'
import { hypervisorFeatures } from '@backlot/contract/vmhost/observing'
import { refuseLacking } from '../hypervisors/lacking.ts'
import { qemuFeatures } from '../hypervisors/qemu/features.ts'
import { refuseOperation } from './features.ts'
import { getHostStatus } from './observing.ts'

/** A hypervisor that only runs VMs and acts inside them: no other is here yet. */
const plain = {
  name: 'plain',
  features: {
    ...Object.fromEntries(hypervisorFeatures.map((each) => [each, false])),
    guestAgent: true,
  } as typeof qemuFeatures,
}
const qemu = { name: 'qemu', features: qemuFeatures }

const refusal = (call: () => void) => {
  try {
    call()
    return undefined
  } catch (error) {
    const { code, message, data } = Failure.from(error)
    return [code, data.feature, message] as const
  }
}

const vm = { name: 'one' }
const made = { ...vm, os: 'linux', cpu: 1, memory: '1GB', diskSize: '1GB', display: '800x600' } as const

test('what a hypervisor lacks is refused with a code and a way out (feature_missing), and nothing else is', () => {
  for (const [feature, ask] of [
    ['suspend', (row: typeof qemu) => refuseOperation(row, 'suspendVm', vm)],
    ['suspend', (row: typeof qemu) => refuseOperation(row, 'resumeVm', vm)],
    ['snapshots', (row: typeof qemu) => refuseOperation(row, 'takeSnapshot', { ...vm, snapshot: 'a' })],
    ['forks', (row: typeof qemu) => refuseOperation(row, 'forkVm', vm)],
    ['pools', (row: typeof qemu) => refuseOperation(row, 'poolVm', { ...vm, size: 1 })],
    ['templates', (row: typeof qemu) => refuseOperation(row, 'createVm', { ...made, template: true })],
    [
      'sharedFolders',
      (row: typeof qemu) => refuseOperation(row, 'runVm', { ...vm, sharedDirectories: [{ hostPath: '/tmp' }] }),
    ],
    ...hypervisorFeatures
      .filter((each) => each !== 'guestAgent')
      .map((each) => [each, (row: typeof qemu) => refuseLacking(row, each)] as const),
  ] as const) {
    const told = refusal(() => ask(plain))
    expect(told).toEqual([
      'feature_missing',
      feature,
      expect.stringMatching(/^The hypervisor "plain" cannot .+\. .+\.$/),
    ])
    expect([feature, refusal(() => ask(qemu))]).toEqual([feature, undefined])
  }
  for (const ask of [
    () => refuseOperation(plain, 'poolVm', vm),
    () => refuseOperation(plain, 'createVm', made),
    () => refuseOperation(plain, 'runVm', vm),
    () => refuseOperation(plain, 'execInVm', { ...vm, command: 'true' }),
    () => refuseOperation(plain, 'stopVm', vm),
  ])
    expect(refusal(ask)).toBeUndefined()
})

test('the host tells what its hypervisor can do', async () => {
  for (const hypervisor of [qemu, plain]) {
    const host = { machines: { count: 0, hypervisor } } as never
    expect((await getHostStatus({}, host)).hypervisor).toEqual({ name: hypervisor.name, features: hypervisor.features })
  }
})
